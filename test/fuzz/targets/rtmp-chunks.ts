import assert from 'node:assert/strict';
import { SourceError } from '@vision/streams/source-error';
import { createChunkReader } from '../../../services/inference/src/inputs/rtmp/chunk-reader.ts';
import { formatRtmp } from '../../../services/inference/src/inputs/rtmp/rtmp-message.ts';
import { piecesOf, readAll, totalBytes } from '../properties.ts';
import type { FuzzTarget } from '../target.ts';

const refusal = { by: SourceError, reasons: ['unreadable'] };

/** Chunks of an RTMP server: however they are cut, the same messages, and no byte more than came. */
export const target: FuzzTarget = {
  maxBytes: 16_384,
  bulk: { kind: 'stream', mostMs: 2000, open: () => createChunkReader() },
  check: (input) => {
    const whole = readAll(createChunkReader(), [input], refusal);
    const pieces = readAll(createChunkReader(), piecesOf(input), refusal);
    assert.equal(pieces.refused, whole.refused);
    if (whole.refused === undefined) assert.deepEqual(pieces.parts, whole.parts);
    assert.ok(totalBytes(pieces.parts.map(({ payload }) => payload)) <= input.length);
    for (const message of pieces.parts) {
      assert.ok(message.timestamp >= 0 && message.timestamp < 2 ** 32);
      const again = createChunkReader()(formatRtmp(3, message));
      assert.deepEqual(again, [{ ...message, timestamp: 0 }]);
    }
  },
};
