import { stripPngMetadata } from '../domain/strip-png-metadata.ts';
import { createFrameReader, frameHeader } from '../sandbox/frames.ts';
import type { Frame } from '../sandbox/frames.ts';
import { kinds, ORDER_BYTES, readOrder, sizePayload, timePayload } from './frames.ts';
import { decodeScaled, orientedSize } from './decode-with-sharp.ts';

/**
 * Body of a process that decodes images in a sandbox: one image after the other, from standard input to standard
 * output. Imports only relative modules and sharp: nothing else is readable here. It ends itself when an image takes
 * more processor time than it may; who started it has a limit of its own should this code be taken over.
 */
const [cpuMs = 0] = process.argv.slice(2).map(Number);
const CHECK_MS = 50;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Ends with this code when an image costs too much. */
const TOO_EXPENSIVE = 3;

let isBusy = false;
let cpuAtStart = 0;

const cpuNow = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

setInterval(() => {
  if (isBusy && cpuNow() - cpuAtStart > cpuMs) process.exit(TOO_EXPENSIVE);
}, CHECK_MS).unref();

process.stdin.on(
  'data',
  createFrameReader(MAX_MESSAGE_BYTES, ({ payload }) => {
    isBusy = true;
    cpuAtStart = cpuNow();
    decode(payload).then(finish, (error: unknown) =>
      finish([{ kind: kinds.refused, payload: Buffer.from(error instanceof Error ? error.message : 'unknown') }]),
    );
  }),
);

/** An image that is read here in another way than its inspection read it has passed no limit. */
async function decode(payload: Buffer): Promise<Frame[]> {
  const { inspected, upright, turned } = readOrder(payload);
  const bytes = payload.subarray(ORDER_BYTES);
  const isPng = bytes[0] === 0x89;
  const image = isPng ? Buffer.from(stripPngMetadata(bytes)) : bytes;
  const size = await orientedSize(image);
  const isUpright = size.width === inspected.width && size.height === inspected.height;
  if (!isUpright && (size.width !== inspected.height || size.height !== inspected.width))
    throw new Error('another size');
  const pixels = await decodeScaled(image, isUpright ? upright : turned);
  return [
    { kind: kinds.size, payload: sizePayload(size) },
    { kind: kinds.pixels, payload: pixels },
  ];
}

function finish(answer: Frame[]): void {
  isBusy = false;
  // All in one piece: each piece wakes the other side.
  process.stdout.cork();
  send({ kind: kinds.spent, payload: timePayload(cpuNow() - cpuAtStart) });
  answer.forEach(send);
  process.stdout.uncork();
}

function send({ kind, payload }: Frame): void {
  process.stdout.write(frameHeader(kind, payload.length));
  process.stdout.write(payload);
}
