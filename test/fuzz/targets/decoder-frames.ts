import assert from 'node:assert/strict';
import { createFrameReader, frameHeader } from '../../../services/inference/src/sandbox/frames.ts';
import type { Frame } from '../../../services/inference/src/sandbox/frames.ts';
import { piecesOf, totalBytes } from '../properties.ts';
import type { FuzzTarget } from '../target.ts';

const MAX_BYTES = 4096;

/** What a process in the sandbox says: its author may be the sender of the picture. */
export const target: FuzzTarget = {
  maxBytes: 8192,
  bulk: { kind: 'stream', mostMs: 500, open: () => createFrameReader(MAX_BYTES, () => undefined) },
  check: (input) => {
    const whole = framesOf([input]);
    const pieces = framesOf(piecesOf(input));
    assert.deepEqual(pieces, whole);
    assert.ok(totalBytes(whole.frames.map(({ payload }) => payload)) <= input.length);
    const again = whole.frames.flatMap(({ kind, payload }) => [frameHeader(kind, payload.length), payload]);
    assert.deepEqual(Buffer.concat(again), input.subarray(0, totalBytes(again)));
  },
};

function framesOf(pieces: readonly Buffer[]): { frames: Frame[]; isRefused: boolean } {
  const frames: Frame[] = [];
  const read = createFrameReader(MAX_BYTES, (frame) => frames.push(frame));
  try {
    pieces.forEach((piece) => read(piece));
    return { frames, isRefused: false };
  } catch (error) {
    assert.match((error as Error).message, /^a message of \d+ bytes, 4096 at most$/);
    return { frames, isRefused: true };
  }
}
