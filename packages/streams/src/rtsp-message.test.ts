import { expect, test } from '@jest/globals';
import { createRtspReader, formatMessage, headerOf, statusOf } from './rtsp-message.ts';

const message = formatMessage(
  'RTSP/1.0 200 OK',
  [
    ['CSeq', '2'],
    ['Content-Length', '3'],
  ],
  Buffer.from('v=0'),
);
const packet = Buffer.from([0x24, 1, 0, 2, 7, 8]);

test('messages and packets are cut apart with any division of the stream', () => {
  const bytes = Buffer.concat([message, packet, message]);
  for (let at = 1; at < bytes.length; at += 1) {
    const read = createRtspReader();
    const parts = [...read(bytes.subarray(0, at)), ...read(bytes.subarray(at))];
    expect(parts.map((part) => part.kind)).toEqual(['message', 'packet', 'message']);
    const [first, second] = parts;
    expect(first?.kind === 'message' && [statusOf(first), headerOf(first, 'cseq'), first.body.toString()]).toEqual([
      200,
      '2',
      'v=0',
    ]);
    expect(second?.kind === 'packet' && second.channel).toBe(1);
  }
});

const smuggled = 'RTSP/1.0 302 Found\nCSeq: 2\nLocation: rtsp://127.0.0.2:554/inner\r\n\r\n';
const lengths = (...values: string[]) => values.map((value) => `Content-Length: ${value}\r\n`).join('');

test.each([
  ['a page', '<html>'],
  ['binary', '\0\0\0\0'],
  ['a start line without an end', `RTSP/1.0 200 ${'x'.repeat(20_000)}`],
  ['a body too long', `RTSP/1.0 200 OK\r\n${lengths('99999999')}\r\n`],
  ['a second answer behind a bare LF', `RTSP/1.0 200 OK\r\nCSeq: 1\n\n${smuggled}`],
  ['a second answer behind a bare CR', `RTSP/1.0 200 OK\r\nCSeq: 1\r\r${smuggled}`],
  ['LF in the start line', `RTSP/1.0 200 OK\n${smuggled}`],
  ['a tab before the status', 'RTSP/1.0\t302 Found\r\n\r\n'],
  ['two blanks before the status', 'RTSP/1.0  302 Found\r\n\r\n'],
  ['a tab behind the status', 'RTSP/1.0 302\tFound\r\n\r\n'],
  ['a sign before the status', 'RTSP/1.0 +302 Found\r\n\r\n'],
  ['a status of four digits', 'RTSP/1.0 2000 OK\r\n\r\n'],
  ['another version', 'RTSP/2.0 200 OK\r\n\r\n'],
  ['HTTP', 'HTTP/1.1 200 OK\r\n\r\n'],
  ['a hexadecimal length', `RTSP/1.0 200 OK\r\n${lengths('0x10')}\r\n`],
  ['a length with a sign', `RTSP/1.0 200 OK\r\n${lengths('+3')}\r\n`],
  ['a length with an exponent', `RTSP/1.0 200 OK\r\n${lengths('1e1')}\r\n`],
  ['an empty length', `RTSP/1.0 200 OK\r\n${lengths('')}\r\n`],
  ['two lengths', `RTSP/1.0 200 OK\r\n${lengths('3', '0')}\r\n`],
  ['the same length twice', `RTSP/1.0 200 OK\r\n${lengths('3', '3')}\r\n`],
  ['a length and its other spelling', 'RTSP/1.0 200 OK\r\nContent-Length: 3\r\ncontent-length: 0\r\n\r\n'],
  ['a length with a no-break space', `RTSP/1.0 200 OK\r\n${lengths('3\xa0')}\r\nabc`],
  ['a body of an answer that has none', `RTSP/1.0 204 No Content\r\n${lengths('3')}\r\nabc`],
  ['a second answer as such a body', `RTSP/1.0 304 Not Modified\r\n${lengths('70')}\r\n${smuggled}`],
  ['a folded line', 'RTSP/1.0 200 OK\r\nPublic: OPTIONS,\r\n PLAY\r\n\r\n'],
  ['a blank before the colon', 'RTSP/1.0 200 OK\r\nContent-Length : 3\r\n\r\n'],
  ['a line without a colon', 'RTSP/1.0 200 OK\r\nnothing\r\n\r\n'],
  ['a control character', 'RTSP/1.0 200 OK\r\nPublic: \x07\r\n\r\n'],
  ['a line too long', `RTSP/1.0 200 OK\r\nPublic: ${'x'.repeat(5000)}\r\n\r\n`],
  ['too many lines', `RTSP/1.0 200 OK\r\n${'A: b\r\n'.repeat(65)}\r\n`],
  ['a request with LF', 'REDIRECT rtsp://h/x RTSP/1.0\nCSeq: 1\r\n\r\n'],
])('what is not written in the one way ends the connection: %s', (_name, text) => {
  expect(() => createRtspReader()(Buffer.from(text, 'latin1'))).toThrow('no RTSP');
});

test('an answer that has no body may say so', () => {
  const read = createRtspReader();
  const parts = read(Buffer.from(`RTSP/1.0 100 Continue\r\n${lengths('0')}\r\nRTSP/1.0 304 Not Modified\r\n\r\n`));
  expect(parts.map((part) => part.kind === 'message' && statusOf(part))).toEqual([100, 304]);
});

test('a value ends before its blanks, and before no other character', () => {
  const [part] = createRtspReader()(Buffer.from('RTSP/1.0 200 OK\r\nSession:  a b\xa0  \r\n\r\n', 'latin1'));
  expect(part?.kind === 'message' && headerOf(part, 'session')).toBe('a b\xa0');
});
