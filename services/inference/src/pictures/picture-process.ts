import type { ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ImageSize } from '@vision/shared/contracts/detection';
import { fail } from '@vision/shared/errors';
import { ImageRefusedError } from '../domain/image-error.ts';
import { killGroup } from '../sandbox/kill-group.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { createFrameReader, frameHeader, kinds, readSize, readTime, sizePayload } from './frames.ts';
import type { Frame } from './frames.ts';

export interface PictureLimits {
  /** Processor time for one picture, milliseconds. */
  cpuMs: number;
  /** Longest wait for one picture, milliseconds: a process that ignores its own limit is killed. */
  waitMs: number;
}

interface ScaledPicture {
  /** Size as a person sees it. */
  original: ImageSize;
  /** Scaled to the size that was asked for, three bytes a pixel. */
  pixels: Buffer;
  /** Processor time it took, milliseconds. */
  cpuMs: number;
}

/** A process that decodes one picture at a time. */
export interface PictureProcess {
  /**
   * @param judged the size that the limits were held against, before orientation; the decoder has to find the same
   * @throws ImageRefusedError when the picture is at fault, which includes costing too much and ending the process;
   * AppError `decoder_lost` when the process had gone before it got the picture.
   */
  decode(bytes: Uint8Array, judged: ImageSize, fit: (original: ImageSize) => ImageSize): Promise<ScaledPicture>;
  readonly isAlive: boolean;
  kill(): void;
}

/** The process ends itself after this much processor time in all, between two pictures; the kernel a little later. */
const LIFETIME_CPU_S = 600;
const MEMORY_BYTES = 1024 ** 3;
/** The largest scaled picture, with room. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

// Sources run in development and in tests, compiled files in production.
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const script = fileURLToPath(new URL(`./decode-process.${extension}`, import.meta.url));
/** Where the script and what it imports lie; Node reads the package's description beside it to know a module. */
const sources = join(dirname(script), '..');
const packages = nodeModulesOf(createRequire(import.meta.url).resolve('sharp'));

export function startPictureProcess(sandbox: Sandbox, limits: PictureLimits): PictureProcess {
  const child = sandbox.spawn(
    {
      program: process.execPath,
      // No configuration of OpenSSL: its file cannot be read behind the wall, which would end Node. No guard pages of
      // WebAssembly: they reserve more addresses than the process may have.
      args: [
        '--openssl-config=/dev/null',
        '--disable-wasm-trap-handler',
        script,
        String(limits.cpuMs),
        String(LIFETIME_CPU_S * 1000),
      ],
      readable: [dirname(process.execPath), packages, sources, join(sources, '../package.json')],
      cpuSeconds: LIFETIME_CPU_S + 60,
      memoryBytes: MEMORY_BYTES,
    },
    ['pipe', 'pipe', 'ignore'],
  );
  const channel = openChannel(child, limits.cpuMs);
  return {
    decode: async (bytes, judged, fit) => {
      if (!channel.isOpen()) throw fail.upstreamDown('decoder_lost');
      const late = setTimeout(channel.kill, limits.waitMs);
      try {
        const original = sizeOf(await channel.ask(kinds.picture, bytes), judged);
        const scaled = fit(original);
        const { payload } = await channel.ask(kinds.scaleTo, sizePayload(scaled));
        const cpuMs = channel.spentMs();
        if (payload.length !== scaled.width * scaled.height * 3) {
          throw new ImageRefusedError('not_decodable', undefined, cpuMs);
        }
        return { original, pixels: payload, cpuMs };
      } finally {
        clearTimeout(late);
      }
    },
    get isAlive() {
      return channel.isOpen();
    },
    kill: channel.kill,
  };
}

/**
 * Questions to the process, one at a time. Its end refuses the picture at work, which is what ended it and counts as
 * having cost all that a picture may. What the process says of its time is believed up to there.
 */
function openChannel(child: ChildProcess, mostMs: number) {
  let spentMs = 0;
  let answer: PromiseWithResolvers<Frame> | undefined;
  let isOpen = true;
  const lose = () => {
    isOpen = false;
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
    else answer?.resolve(frame);
  });
  child.stdout?.on('data', (chunk: Buffer) => {
    try {
      read(chunk);
    } catch {
      // What it sends makes no sense: whatever it is now, it is no decoder of ours.
      kill();
    }
  });
  return {
    isOpen: () => isOpen,
    spentMs: () => spentMs,
    kill,
    ask: async (kind: number, payload: Uint8Array): Promise<Frame> => {
      answer = Promise.withResolvers();
      child.stdin?.write(frameHeader(kind, payload.byteLength));
      child.stdin?.write(payload);
      try {
        const frame = await answer.promise;
        if (frame.kind !== kinds.refused) return frame;
        throw new ImageRefusedError('not_decodable', frame.payload.toString('utf8'), spentMs);
      } finally {
        answer = undefined;
      }
    },
  };
}

/** A picture that the decoder reads in another way than the judge did has passed no limit. */
function sizeOf({ kind, payload }: Frame, judged: ImageSize): ImageSize {
  if (kind !== kinds.size) throw new ImageRefusedError('not_decodable');
  const { width, height } = readSize(payload);
  const isUpright = width === judged.width && height === judged.height;
  const isTurned = width === judged.height && height === judged.width;
  if (!isUpright && !isTurned) throw new ImageRefusedError('not_decodable');
  return { width, height };
}

/** The outermost node_modules folder on the way to a file. */
function nodeModulesOf(path: string): string {
  return path.slice(0, path.indexOf(`${sep}node_modules${sep}`) + `${sep}node_modules`.length);
}
