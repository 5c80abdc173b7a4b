import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import { frameData } from '@vision/contracts/frame-data';
import { SegmentDamagedError } from '@vision/contracts/segments/bytes';
import { decodeFrameSegment, loadOfSegment, segmentBounds } from '@vision/contracts/segments/frame-segment';
import type { FuzzTarget } from '../target.ts';

/** Segments of frames, which a backend that is not ours may have written: refused, or frames within the bounds. */
export const target: FuzzTarget = {
  maxBytes: 4_000,
  check: (input) => {
    assert.ok(loadOfSegment(input) >= 1);
    checkSegment(input);
    // With a checksum that is right, what lies behind it is reached.
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32BE(crc32(input));
    checkSegment(Buffer.concat([input, checksum]));
  },
};

function checkSegment(bytes: Buffer): void {
  let segment;
  try {
    segment = decodeFrameSegment(bytes);
  } catch (error) {
    assert.ok(error instanceof SegmentDamagedError, String(error));
    return;
  }
  assert.ok(segment.frames.length <= Math.min(loadOfSegment(bytes), segmentBounds.frames));
  for (const frame of segment.frames) assert.deepEqual(frameData.parse(frame), frame);
}
