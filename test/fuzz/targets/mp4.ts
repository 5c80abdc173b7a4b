import assert from 'node:assert/strict';
import { Mp4RefusedError } from '../../../services/inference/src/domain/mp4/box.ts';
import { validateMp4 } from '../../../services/inference/src/domain/mp4/validate-mp4.ts';
import { isVideo } from '../../../services/tasks/src/domain/video-type.ts';
import { attemptLater } from '../properties.ts';
import type { FuzzTarget } from '../target.ts';

/** Video files: a verdict on every one, after few reads. */
export const target: FuzzTarget = {
  maxBytes: 16_384,
  bulk: { kind: 'message', mostMs: 400, open: () => validateLarge },
  check: async (input) => {
    for (const isWhole of [false, true]) {
      const verdict = isVideo(input, isWhole);
      if (isWhole) assert.notEqual(verdict, undefined);
    }
    let reads = 0;
    const read = async (at: number, length: number) => {
      reads += 1;
      assert.ok(at >= 0 && at <= input.length && length >= 0);
      return input.subarray(at, at + length);
    };
    await attemptLater(() => validateMp4(read, input.length), { by: Mp4RefusedError });
    assert.ok(reads <= input.length / 8 + 2, `${reads} reads`);
  },
};

async function validateLarge(file: Buffer): Promise<void> {
  await validateMp4(async (at, length) => file.subarray(at, at + length), file.length);
}
