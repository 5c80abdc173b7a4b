import assert from 'node:assert/strict';
import { AppError } from '@vision/contracts/errors';
import { createSecretBox } from '@vision/shared/secret-box';
import { cursorCodec } from '../../../services/results/src/domain/cursor.ts';
import { parseResultQuery } from '../../../services/results/src/domain/result-query.ts';
import { historyCursor, readHistoryCursor } from '../../../services/tasks/src/domain/history-cursor.ts';
import { attempt } from '../properties.ts';
import type { FuzzTarget } from '../target.ts';

const TASK = '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10';
const codec = cursorCodec(['a secret for cursors of this test']);
const box = createSecretBox([{ version: 1, key: Buffer.alloc(32, 7) }]);
const LIST = { subject: 'subject', order: 'newest' } as const;
const invalid = { by: AppError, reasons: ['cursor_invalid'] };

/** Cursors: ours come back as they were; those of strangers, and ours with any change, are refused. */
export const target: FuzzTarget = {
  maxBytes: 600,
  check: (input) => {
    const text = input.toString('latin1');
    const query = { cursor: text, limit: text, min_score: text };
    attempt(() => parseResultQuery(query), { by: AppError, reasons: ['query_invalid'] });
    assert.ok('refused' in attempt(() => codec.decode(TASK, text), invalid), 'a made-up cursor');
    assert.ok('refused' in attempt(() => readHistoryCursor(box, LIST, text), invalid), 'a made-up cursor');
    if (input.length < 12) return;
    const progress = { seq: input.readInt32BE(0), position: input.readUIntBE(4, 6) };
    const issued = codec.encode(TASK, progress);
    assert.deepEqual(codec.decode(TASK, issued), progress);
    refuseChanged(issued, input, (changed) => codec.decode(TASK, changed));
    const id = input.toString('hex', 0, 16);
    const page = historyCursor(box, LIST, id);
    assert.equal(readHistoryCursor(box, LIST, page), id);
    assert.ok('refused' in attempt(() => readHistoryCursor(box, { ...LIST, subject: 'other' }, page), invalid));
    assert.ok('refused' in attempt(() => readHistoryCursor(box, { ...LIST, order: 'oldest' }, page), invalid));
    refuseChanged(page, input, (changed) => readHistoryCursor(box, LIST, changed));
  },
};

/** Two bytes of the input say which character is put where. */
function refuseChanged(issued: string, input: Buffer, read: (text: string) => unknown): void {
  const at = input.readUInt8(10) % issued.length;
  const changed = issued.slice(0, at) + String.fromCharCode(input.readUInt8(11)) + issued.slice(at + 1);
  if (changed === issued) return;
  const outcome = attempt(() => read(changed), invalid);
  assert.ok('refused' in outcome, 'a changed cursor');
}
