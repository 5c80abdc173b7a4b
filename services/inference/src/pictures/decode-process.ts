import { stripPngMetadata } from '../domain/strip-png-metadata.ts';
import { createFrameReader, frameHeader, kinds, readSize, sizePayload, timePayload } from './frames.ts';
import { decodeScaled, orientedSize } from './decode-with-sharp.ts';

/**
 * Body of a process that decodes pictures behind a wall: one picture after the other, from standard input to standard
 * output. Imports only relative modules and sharp: nothing else is readable here. It ends itself when a picture takes
 * more processor time than it may; who started it has a limit of its own should this code be taken over.
 */
const [cpuMs = 0] = process.argv.slice(2).map(Number);
const CHECK_MS = 50;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Ends with this code when a picture costs too much. */
const TOO_EXPENSIVE = 3;

let current: Buffer | undefined;
let cpuAtStart = 0;

const cpuNow = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

setInterval(() => {
  if (current && cpuNow() - cpuAtStart > cpuMs) process.exit(TOO_EXPENSIVE);
}, CHECK_MS).unref();

process.stdin.on(
  'data',
  createFrameReader(MAX_MESSAGE_BYTES, ({ kind, payload }) => {
    const work = kind === kinds.picture ? measure(payload) : scale(payload);
    work.catch((error: unknown) =>
      finish(kinds.refused, Buffer.from(error instanceof Error ? error.message : 'unknown')),
    );
  }),
);

async function measure(bytes: Buffer): Promise<void> {
  cpuAtStart = cpuNow();
  const isPng = bytes[0] === 0x89;
  current = isPng ? Buffer.from(stripPngMetadata(bytes)) : bytes;
  send(kinds.size, sizePayload(await orientedSize(current)));
}

async function scale(payload: Buffer): Promise<void> {
  if (!current) throw new Error('no picture was sent');
  finish(kinds.pixels, await decodeScaled(current, readSize(payload)));
}

function finish(kind: number, payload: Buffer): void {
  current = undefined;
  process.stdout.cork();
  send(kinds.spent, timePayload(cpuNow() - cpuAtStart));
  send(kind, payload);
  process.stdout.uncork();
}

function send(kind: number, payload: Buffer): void {
  // Header and payload go in one piece: each piece wakes the other side.
  process.stdout.cork();
  process.stdout.write(frameHeader(kind, payload.length));
  process.stdout.write(payload);
  process.stdout.uncork();
}
