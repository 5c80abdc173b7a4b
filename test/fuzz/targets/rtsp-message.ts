import assert from 'node:assert/strict';
import { createRtspReader, formatMessage, headerOf, headersOf, statusOf } from '@vision/streams/rtsp-message';
import type { RtspPart } from '@vision/streams/rtsp-message';
import { piecesOf, readAll } from '../properties.ts';
import type { FuzzTarget } from '../target.ts';

const refusal = { by: Error, reasons: ['no RTSP'] };

/** Messages of an RTSP server: however they are cut into pieces, and written again, they stay the same. */
export const target: FuzzTarget = {
  maxBytes: 24_576,
  bulk: { kind: 'stream', mostMs: 2000, open: createRtspReader },
  check: (input) => {
    const whole = readAll(createRtspReader(), [input], refusal);
    const pieces = readAll(createRtspReader(), piecesOf(input), refusal);
    assert.equal(pieces.refused, whole.refused);
    if (whole.refused === undefined) assert.deepEqual(pieces.parts, whole.parts);
    pieces.parts.forEach(checkPart);
  },
};

function checkPart(part: RtspPart): void {
  const bytes = part.kind === 'packet' ? part.bytes : formatMessage(part.startLine, part.headers, part.body);
  assert.deepEqual(createRtspReader()(bytes), [part]);
  if (part.kind === 'packet') return;
  const status = statusOf(part);
  assert.ok(status === undefined || (status >= 100 && status <= 599));
  const head = [part.startLine, ...part.headers.flat()].join('');
  assert.doesNotMatch(head, /[\x00-\x1f\x7f]/);
  const lengths = headersOf(part, 'content-length');
  assert.ok(lengths.length <= 1);
  assert.equal(Number(headerOf(part, 'content-length') ?? 0), part.body.length);
}
