import type { ChildProcess } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ImageSize } from '@vision/contracts/detection';
import { fail } from '@vision/contracts/errors';
import { ImageRefusedError } from '../domain/image-error.ts';
import { killGroup } from '../sandbox/kill-group.ts';
import { NODE_IN_SANDBOX, nodeModulesOf } from '../sandbox/node-program.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { createFrameReader, frameHeader } from '../sandbox/frames.ts';
import type { Frame } from '../sandbox/frames.ts';
import { kinds, orderPayload, readSize, readTime } from './frames.ts';

export interface ImageLimits {
  /** Processor time for one image, milliseconds. */
  cpuMs: number;
  /** Longest wait for one image, milliseconds: a process that ignores its own limit is killed. */
  waitMs: number;
}

interface ScaledImage {
  /** Size as a person sees it. */
  original: ImageSize;
  /** Scaled to the size that was asked for, three bytes a pixel. */
  pixels: Buffer;
  /** Processor time it took, milliseconds. */
  cpuMs: number;
}

/** A process that decodes one image at a time. */
export interface ImageProcess {
  /**
   * @param inspected the size that the limits were held against, before orientation; the decoder has to find the same
   * @throws ImageRefusedError when the image is at fault, which includes costing too much and ending the process;
   * AppError `decoder_lost` when the process had gone before it got the image.
   */
  decode(bytes: Uint8Array, inspected: ImageSize, fit: (original: ImageSize) => ImageSize): Promise<ScaledImage>;
  readonly isAlive: boolean;
  /** Whether it was given an image. */
  readonly hasWorked: boolean;
  /** Has decoded as much as one process should. */
  readonly isWorn: boolean;
  /** Resolves when it has gone. */
  readonly ended: Promise<void>;
  kill(): void;
}

/** A process is replaced after this much processor time for its images; the kernel ends it at twice as much. */
const LIFETIME_CPU_S = 300;
const MEMORY_BYTES = 1024 ** 3;
/** The largest scaled image, with room. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

// Sources run in development and in tests, compiled files in production.
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const script = fileURLToPath(new URL(`./decode-process.${extension}`, import.meta.url));
/** Where the script and what it imports lie; Node reads the package's description beside it to know a module. */
const sources = join(dirname(script), '..');
const packages = nodeModulesOf('sharp', import.meta.url);

/** With a `niceness`, 1 to 19, it leaves the processor to others the more, the higher that is. */
export function startImageProcess(sandbox: Sandbox, limits: ImageLimits, niceness?: number): ImageProcess {
  const child = sandbox.spawn(
    {
      program: process.execPath,
      args: [...NODE_IN_SANDBOX, script, String(limits.cpuMs)],
      readable: [dirname(process.execPath), packages, sources, join(sources, '../package.json')],
      cpuSeconds: 2 * LIFETIME_CPU_S,
      memoryBytes: MEMORY_BYTES,
      niceness,
    },
    ['pipe', 'pipe', 'ignore'],
  );
  const channel = openChannel(child, limits.cpuMs);
  let hasWorked = false;
  let totalMs = 0;
  return {
    decode: async (bytes, inspected, fit) => {
      hasWorked = true;
      if (!channel.isOpen()) throw fail.upstreamDown('decoder_lost');
      const late = setTimeout(channel.kill, limits.waitMs);
      try {
        const turned = { width: inspected.height, height: inspected.width };
        const order = orderPayload({ inspected, upright: fit(inspected), turned: fit(turned) });
        const { size, payload } = await channel.ask(order, bytes);
        const original = sizeOf(size, inspected);
        const scaled = fit(original);
        const cpuMs = channel.spentMs();
        if (payload.length !== scaled.width * scaled.height * 3) {
          throw new ImageRefusedError('not_decodable', undefined, cpuMs);
        }
        return { original, pixels: payload, cpuMs };
      } finally {
        clearTimeout(late);
        totalMs += channel.spentMs();
      }
    },
    get isAlive() {
      return channel.isOpen();
    },
    get hasWorked() {
      return hasWorked;
    },
    get isWorn() {
      return totalMs > LIFETIME_CPU_S * 1000;
    },
    ended: channel.closed,
    kill: channel.kill,
  };
}

/**
 * Questions to the process, one at a time. Its end refuses the image at work, which is what ended it and counts as
 * having cost all that an image may. What the process says of its time is believed up to there.
 */
function openChannel(child: ChildProcess, mostMs: number) {
  let spentMs = 0;
  let size: ImageSize | undefined;
  let answer: PromiseWithResolvers<Frame> | undefined;
  let isOpen = true;
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const lose = () => {
    isOpen = false;
    close();
    answer?.reject(new ImageRefusedError('not_decodable', undefined, mostMs));
  };
  const kill = () => {
    lose();
    killGroup(child);
  };
  child.once('error', lose).once('close', lose);
  child.stdin?.on('error', lose);
  child.stdout?.on('error', lose);
  const read = createFrameReader(MAX_MESSAGE_BYTES, (frame) => {
    if (frame.kind === kinds.spent) spentMs = Math.min(mostMs, readTime(frame.payload));
    else if (frame.kind === kinds.size) size = readSize(frame.payload);
    else answer?.resolve(frame);
  });
  child.stdout?.on('data', (chunk: Buffer) => {
    try {
      read(chunk);
    } catch {
      // Its output breaks the protocol: it is no longer our decoder.
      kill();
    }
  });
  return {
    isOpen: () => isOpen,
    closed,
    spentMs: () => spentMs,
    kill,
    ask: async (order: Buffer, image: Uint8Array): Promise<{ size: ImageSize | undefined; payload: Buffer }> => {
      answer = Promise.withResolvers();
      size = undefined;
      // All in one piece: each piece wakes the other side.
      child.stdin?.cork();
      child.stdin?.write(frameHeader(kinds.image, order.byteLength + image.byteLength));
      child.stdin?.write(order);
      child.stdin?.write(image);
      child.stdin?.uncork();
      try {
        const frame = await answer.promise;
        if (frame.kind === kinds.pixels) return { size, payload: frame.payload };
        throw new ImageRefusedError('not_decodable', frame.payload.toString('utf8'), spentMs);
      } finally {
        answer = undefined;
      }
    },
  };
}

/** What the process says is checked once more: an image may have taken it over. */
function sizeOf(told: ImageSize | undefined, inspected: ImageSize): ImageSize {
  if (!told) throw new ImageRefusedError('not_decodable');
  const { width, height } = told;
  const isUpright = width === inspected.width && height === inspected.height;
  const isTurned = width === inspected.height && height === inspected.width;
  if (!isUpright && !isTurned) throw new ImageRefusedError('not_decodable');
  return { width, height };
}
