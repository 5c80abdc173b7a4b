import { expect, test } from '@jest/globals';
import { sourceReasonOf } from '@vision/streams/source-error';
import { MESSAGE } from '../src/inputs/rtmp/rtmp-message.ts';
import { tcpServer } from './support/live-servers.ts';
import { atEnd, httpServer, longSignal, opener, playToEnd, watch } from './support/live-watch.ts';
import { scriptedRtmp } from './support/scripted-rtmp.ts';
import type { RtmpViewer } from './support/scripted-rtmp.ts';
import { rtspAnswer, scriptedRtsp } from './support/scripted-rtsp.ts';
import { nearlySpent } from './support/spent-budget.ts';

/** The reason that ends a stream whose budget of slowed time is almost used up. */
async function reasonOf(url: string): Promise<string | undefined> {
  const input = await opener(url, { usage: nearlySpent() })(true, longSignal()).catch(sourceReasonOf);
  if (typeof input === 'string') return input;
  atEnd(input.close);
  await playToEnd(input);
  await input.close();
  return input.failure();
}

// A finite flood has the data that a stream may send in forty seconds; even a slow machine reads it faster.

/** A packet that is a whole frame. */
const rtp = (payload: Buffer, sequence: number) => {
  const bytes = Buffer.alloc(16 + payload.length);
  bytes[0] = 0x24;
  bytes.writeUInt16BE(12 + payload.length, 2);
  bytes.writeUInt16BE(0x8060, 4);
  bytes.writeUInt16BE(sequence & 0xffff, 6);
  bytes.writeUInt32BE(sequence * 3000, 8);
  payload.copy(bytes, 16);
  return bytes;
};
const numbered = (count: number, payload: Buffer) =>
  Buffer.concat(Array.from({ length: count }, (_, sequence) => rtp(payload, sequence)));
/** STAP-A of units of one byte. */
const aggregation = Buffer.concat([Buffer.of(24), Buffer.alloc(3 * 1000, Buffer.from([0, 1, 6]))]);

test.each([
  ['packets without content', Buffer.alloc(400_000, Buffer.from([0x24, 7, 0, 0]))],
  ['packets of padding alone', numbered(400_000, Buffer.alloc(0))],
  ['aggregations of units of one byte', numbered(400, aggregation)],
])('a flood of %s over RTSP is too much data', async (_name, flood) => {
  const answer = (request: Parameters<typeof rtspAnswer>[0]) =>
    Buffer.concat([Buffer.from(rtspAnswer(request, '200 OK', ['Session: 1'])), flood]);
  const server = await scriptedRtsp({ PLAY: answer });
  atEnd(server.close);
  expect(await reasonOf(`rtsp://127.0.0.1:${server.port}/cam`)).toBe('too_much_data');
});

/** H.264 whose frames consist of units of one byte. */
function tinyUnits(viewer: RtmpViewer): void {
  const sets = Buffer.from([1, 0x64, 0, 0x1f, 0xff, 0xe1, 0, 4, 0x67, 0x64, 0, 0x1f, 1, 0, 2, 0x68, 0xee]);
  viewer.send(MESSAGE.video, Buffer.concat([Buffer.from([0x17, 0, 0, 0, 0]), sets]));
  const units = Buffer.alloc(5 * 1000, Buffer.from([0, 0, 0, 1, 6]));
  for (let n = 0; n < 400; n += 1) viewer.send(MESSAGE.video, Buffer.concat([Buffer.from([0x27, 1, 0, 0, 0]), units]));
}

test.each<[string, (viewer: RtmpViewer) => void]>([
  [
    'messages of two bytes',
    (viewer) => {
      viewer.send(MESSAGE.audio, Buffer.of(0));
      viewer.raw(Buffer.alloc(800_000, Buffer.from([0xc6, 0])));
    },
  ],
  [
    'aggregates of empty tags',
    (viewer) => {
      const tags = Buffer.alloc(15 * 1000, Buffer.concat([Buffer.of(MESSAGE.video), Buffer.alloc(14)]));
      for (let n = 0; n < 400; n += 1) viewer.send(MESSAGE.aggregate, tags);
    },
  ],
  ['pictures of units of one byte', tinyUnits],
  [
    'commands',
    (viewer) => {
      for (let n = 0; n < 4000; n += 1) viewer.say('onBWDone', 0, null, ...Array.from({ length: 100 }, () => null));
    },
  ],
])('a flood of %s over RTMP is too much data', async (_name, play) => {
  const server = await scriptedRtmp({ play });
  atEnd(server.close);
  expect(await reasonOf(`rtmp://127.0.0.1:${server.port}/live/key`)).toBe('too_much_data');
});

const EMPTY_PACKET = Buffer.alloc(188, 0xff);
EMPTY_PACKET.writeUInt32BE(0x471fff10);
const EMPTY_PACKETS = Buffer.alloc(188 * 1000, EMPTY_PACKET);

/** A server that answers with `head` and then repeats `again` without end. */
async function repeating(head: Buffer, again: Buffer): Promise<string> {
  const server = await tcpServer((socket) => {
    const more = () => {
      for (let isTaken = true; isTaken;) isTaken = socket.write(again);
    };
    socket.once('data', () => {
      socket.write(head);
      socket.on('drain', more);
      more();
    });
  });
  atEnd(server.close);
  return `http://127.0.0.1:${server.port}/live`;
}

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: video/mp2t\r\n';

test('a body faster than any camera is too much data', async () => {
  const url = await repeating(Buffer.from(`${HEAD}\r\n`), EMPTY_PACKETS);
  expect(await reasonOf(url)).toBe('too_much_data');
});

test('a stream that has sent too much data is not retried', async () => {
  const url = await repeating(Buffer.from(`${HEAD}\r\n`), EMPTY_PACKETS);
  const live = watch(url, { noFrameMs: 600_000 }, { openInput: opener(url, { usage: nearlySpent() }) });
  await expect(live.frames.next()).rejects.toMatchObject({ reason: 'too_much_data' });
  expect(live.retries).toEqual([]);
});

test('a body in chunks of one byte is too much data', async () => {
  const head = `${HEAD}Transfer-Encoding: chunked\r\n\r\n${(188 * 10).toString(16)}\r\n`;
  const first = Buffer.concat([Buffer.from(head), EMPTY_PACKETS.subarray(0, 1880), Buffer.from('\r\n')]);
  const url = await repeating(first, Buffer.from('1\r\nG\r\n'.repeat(1000)));
  expect(await reasonOf(url)).toBe('too_much_data');
});

test('interim responses without end are too much data', async () => {
  const again = Buffer.from('HTTP/1.1 102 Processing\r\n\r\n'.repeat(1000));
  expect(await reasonOf(await repeating(again, again))).toBe('too_much_data');
});

test('pieces of HLS that are larger than a stream of their length are too much data', async () => {
  const lines = Array.from({ length: 100 }, (_, index) => `#EXTINF:0,\n${index}.ts`);
  const playlist = ['#EXTM3U', '#EXT-X-TARGETDURATION:6', ...lines, '#EXT-X-ENDLIST', ''].join('\n');
  const base = await httpServer((req, res) => {
    if (req.url === '/x.m3u8') return void res.end(playlist);
    for (let n = 0; n < 85; n += 1) res.write(EMPTY_PACKETS);
    res.end();
  });
  expect(await reasonOf(`${base}/x.m3u8`)).toBe('too_much_data');
});

test('a stream without a flood plays on, and its next connection inherits the budget used', async () => {
  const server = await scriptedRtsp({
    PLAY: (request) =>
      Buffer.concat([Buffer.from(rtspAnswer(request, '200 OK', ['Session: 1'])), numbered(20, Buffer.of(6, 1))]),
  });
  atEnd(server.close);
  const usage = nearlySpent();
  const [before] = usage.last.slowed;
  const url = `rtsp://127.0.0.1:${server.port}/cam`;
  const input = await opener(url, { usage })(true, longSignal());
  atEnd(input.close);
  input.video.resume();
  input.play();
  await input.close();
  expect(input.failure()).toBeUndefined();
  const [after] = usage.last.slowed;
  expect(after?.[0]).toBe(before?.[0]);
  expect(after?.[1]).toBeGreaterThanOrEqual(before?.[1] ?? Infinity);
  expect(usage.last.bytesPaidAt).toBeGreaterThan(0);
});
