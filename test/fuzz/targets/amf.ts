import assert from 'node:assert/strict';
import { SourceError } from '@vision/streams/source-error';
import { readAmf, writeAmf } from '../../../services/inference/src/inputs/rtmp/amf0.ts';
import { attempt } from '../properties.ts';
import type { FuzzTarget } from '../target.ts';

/** Values of RTMP commands: written and read again they are the same. */
export const target: FuzzTarget = {
  maxBytes: 4096,
  bulk: { kind: 'message', mostMs: 40, open: () => readAmf },
  check: (input) => {
    const outcome = attempt(() => readAmf(input), { by: SourceError, reasons: ['unreadable'] });
    if ('refused' in outcome) return;
    assert.deepEqual(readAmf(writeAmf(outcome.read)), outcome.read);
  },
};
