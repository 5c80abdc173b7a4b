import { expect, test } from '@jest/globals';
import { createChunkReader } from './chunk-reader.ts';
import { formatRtmp } from './rtmp-message.ts';

const VIDEO = 9;

interface Chunk {
  format?: number;
  id?: number;
  time?: number;
  length?: number;
  type?: number;
  payload?: Buffer;
}

/** One chunk, with the extended field where its time asks for one. */
function chunk({ format = 0, id = 6, time = 0, length, type = VIDEO, payload = Buffer.alloc(0) }: Chunk): Buffer {
  const head = Buffer.alloc([12, 8, 4, 1][format] ?? 0);
  head[0] = (format << 6) | id;
  if (format < 3) head.writeUIntBE(Math.min(time, 0xffffff), 1, 3);
  if (format < 2) head.writeUIntBE(length ?? payload.length, 4, 3);
  if (format < 2) head[7] = type;
  if (format === 0) head.writeUInt32LE(1, 8);
  const extended = Buffer.alloc(time >= 0xffffff ? 4 : 0);
  if (extended.length > 0) extended.writeUInt32BE(time);
  return Buffer.concat([head, extended, payload]);
}

const setChunkSize = (size: number) => {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(size);
  return chunk({ id: 2, type: 1, payload });
};

test('messages are put together with any division of the stream', () => {
  const bytes = Buffer.concat([
    formatRtmp(3, { type: 20, streamId: 0, payload: Buffer.alloc(300, 1) }),
    setChunkSize(4096),
    chunk({ time: 40, payload: Buffer.alloc(1000, 2) }),
  ]);
  for (const size of [1, 7, 128, 5000]) {
    const read = createChunkReader();
    const messages = [];
    for (let at = 0; at < bytes.length; at += size) messages.push(...read(bytes.subarray(at, at + size)));
    expect(messages.map(({ type, timestamp, payload }) => [type, timestamp, payload.length])).toEqual([
      [20, 0, 300],
      [VIDEO, 40, 1000],
    ]);
  }
});

test('times are absolute, differences, or the last difference again; long ones have a field of their own', () => {
  const payload = Buffer.from([1]);
  const read = createChunkReader();
  const bytes = [
    chunk({ time: 0xfffffff0, payload }),
    chunk({ format: 1, time: 32, payload }),
    chunk({ format: 2, time: 40, payload }),
    chunk({ format: 3, payload }),
    chunk({ format: 1, time: 0x1000000, payload }),
  ];
  const times = bytes.flatMap(read).map(({ timestamp }) => timestamp);
  expect(times).toEqual([0xfffffff0, 16, 56, 96, 96 + 0x1000000]);
});

test('a message with a long time repeats its field in each of its chunks', () => {
  const first = chunk({ time: 0x1000000, length: 200, payload: Buffer.alloc(128, 1) });
  const second = Buffer.concat([Buffer.from([0xc6, 1, 0, 0, 0]), Buffer.alloc(72, 2)]);
  const [message] = createChunkReader()(Buffer.concat([first, second]));
  expect(message?.payload.equals(Buffer.concat([Buffer.alloc(128, 1), Buffer.alloc(72, 2)]))).toBe(true);
});

test('messages of several chunk streams may be mixed; an aborted one is forgotten, sound is not kept', () => {
  const read = createChunkReader();
  const abort = chunk({ id: 2, type: 2, payload: Buffer.from([0, 0, 0, 6]) });
  const bytes = [
    chunk({ id: 6, length: 200, payload: Buffer.alloc(128, 1) }),
    chunk({ id: 7, length: 200, payload: Buffer.alloc(128, 2) }),
    abort,
    Buffer.concat([Buffer.from([0xc7]), Buffer.alloc(72, 2)]),
    chunk({ id: 6, payload: Buffer.from([3]) }),
    chunk({ id: 8, type: 8, payload: Buffer.from([4]) }),
  ];
  expect(bytes.flatMap(read).map(({ payload }) => payload[0])).toEqual([2, 3]);
});

test('ids of two and three bytes are read', () => {
  const body = chunk({ payload: Buffer.from([5]) }).subarray(1);
  const read = createChunkReader();
  const bytes = [Buffer.concat([Buffer.from([0, 10]), body]), Buffer.concat([Buffer.from([1, 10, 1]), body])];
  expect(bytes.flatMap(read)).toHaveLength(2);
});

const open = (id: number) => chunk({ id: 3 + id, length: 1000, payload: Buffer.alloc(128) });

test.each([
  ['a stream that begins in the middle', [chunk({ format: 3 })]],
  [
    'a header inside of a message',
    [chunk({ length: 200, payload: Buffer.alloc(128) }), chunk({ payload: Buffer.of(1) })],
  ],
  ['a message of more than 8 MiB', [chunk({ length: (8 << 20) + 1 })]],
  ['chunks of more than 1 MiB', [setChunkSize((1 << 20) + 1)]],
  ['chunks of one byte', [setChunkSize(1)]],
  ['chunks of no size', [setChunkSize(0)]],
  ['a size with the highest bit', [setChunkSize(0x80000080)]],
  [
    'more chunk streams than any camera uses',
    Array.from({ length: 65 }, (_, n) => Buffer.concat([Buffer.from([0, n]), open(0).subarray(1)])),
  ],
])('%s ends the connection', (_name, bytes) => {
  const read = createChunkReader();
  expect(() => bytes.forEach((part) => read(part))).toThrow('unreadable');
});

test('unfinished messages together are bounded', () => {
  const read = createChunkReader();
  read(setChunkSize(1 << 20));
  const begin = (id: number) => read(chunk({ id, length: 8 << 20, payload: Buffer.alloc(1 << 20) }));
  const go = () => {
    for (let id = 3; id < 40; id += 1) begin(id);
  };
  expect(go).toThrow('unreadable');
});
