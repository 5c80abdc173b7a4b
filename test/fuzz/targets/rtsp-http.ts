import assert from 'node:assert/strict';
import { createRtspReader, statusOf } from '@vision/streams/rtsp-message';
import type { RtspMessage, RtspPart } from '@vision/streams/rtsp-message';
import { readHttp } from '../oracles/http-reader.ts';
import { readAll } from '../properties.ts';
import type { FuzzTarget } from '../target.ts';

/**
 * Messages of an RTSP server in the eyes of the HTTP parser of Node.js, which gets each with a start line of HTTP: they
 * end where we end them, with the same status, headers and body (RFC 2326, 4 and 15, takes these from HTTP).
 */
export const target: FuzzTarget = {
  maxBytes: 8192,
  check: (input) => {
    const { parts } = readAll(createRtspReader(), [input], { by: Error, reasons: ['no RTSP'] });
    const messages = messagesOf(input, parts);
    // As requests: one without a length has no body in HTTP either, so all of them can follow each other.
    const stream = messages.map(({ raw, message }) => withStart('POST / HTTP/1.1', message, raw));
    const inOne = readHttp('requests', Buffer.concat(stream));
    checkSame(messages.map(({ message }) => message).slice(0, inOne.length), inOne);
    for (const { raw, message } of messages) checkResponse(message, raw);
  },
};

/** The status; and that answers which have no body in HTTP have none here. */
function checkResponse(message: RtspMessage, raw: Buffer): void {
  const status = statusOf(message);
  if (status === undefined) return;
  const start = message.startLine.replace(/^RTSP\/1\.0/, 'HTTP/1.1');
  const [read] = readHttp('responses', withStart(start, message, raw));
  if (!read) return;
  assert.equal(read.status, status);
  checkSame([message], [read]);
}

function checkSame(ours: readonly RtspMessage[], theirs: readonly { headers: [string, string][]; body: Buffer }[]) {
  assert.deepEqual(
    theirs.map(({ headers, body }) => ({ headers, body })),
    ours.map(({ headers, body }) => ({ headers, body })),
  );
}

interface Cut {
  message: RtspMessage;
  /** As it came. */
  raw: Buffer;
}

function messagesOf(input: Buffer, parts: readonly RtspPart[]): Cut[] {
  const messages: Cut[] = [];
  let at = 0;
  for (const part of parts) {
    const bodyAt = input.indexOf('\r\n\r\n', at) + 4;
    const end = part.kind === 'packet' ? at + part.bytes.length : bodyAt + part.body.length;
    if (part.kind === 'message') messages.push({ message: part, raw: input.subarray(at, end) });
    at = end;
  }
  return messages;
}

function withStart(start: string, { startLine }: RtspMessage, raw: Buffer): Buffer {
  return Buffer.concat([Buffer.from(start, 'latin1'), raw.subarray(startLine.length)]);
}
