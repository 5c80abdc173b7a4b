import { expect, test } from '@jest/globals';
import { createRtspReader, formatMessage, headerOf } from './rtsp-message.ts';

const message = formatMessage(
  'RTSP/1.0 200 OK',
  [
    ['CSeq', '2'],
    ['Content-Length', '3'],
  ],
  Buffer.from('v=0'),
);
const packet = Buffer.from([0x24, 0, 0, 2, 7, 8]);

test('messages and packets are cut apart wherever the stream is divided', () => {
  const bytes = Buffer.concat([message, packet, message]);
  for (let at = 1; at < bytes.length; at += 1) {
    const read = createRtspReader();
    const parts = [...read(bytes.subarray(0, at)), ...read(bytes.subarray(at))];
    expect(parts.map((part) => part.kind)).toEqual(['message', 'packet', 'message']);
    const [first] = parts;
    expect(first?.kind === 'message' && [headerOf(first, 'cseq'), first.body.toString()]).toEqual(['2', 'v=0']);
  }
});

test.each([
  '<html>',
  `RTSP/1.0 200 ${'x'.repeat(20_000)}`,
  'RTSP/1.0 200 OK\r\nContent-Length: 99999999\r\n\r\n',
  '\0\0\0\0',
])('what is no RTSP ends the connection (%#)', (text) => {
  expect(() => createRtspReader()(Buffer.from(text))).toThrow('no RTSP');
});
