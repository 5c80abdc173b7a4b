import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { beforeEach, expect, test } from '@jest/globals';
import { readSnapshots } from './read-snapshots.ts';
import type { DecodedSnapshot } from './read-snapshots.ts';

const SIZE = { width: 4, height: 2 };
const BYTES = 24;
let pixels = new PassThrough();
let records = new PassThrough();
let got: DecodedSnapshot[] = [];

beforeEach(() => {
  [pixels, records, got] = [new PassThrough(), new PassThrough(), []];
});

function read(size: { width: number; height: number } | undefined = SIZE) {
  const output = { pixels, records, size: Promise.resolve(size), maxSide: 16 };
  readSnapshots(output, (snapshot) => got.push(snapshot));
}
const record = (number: number, ptsMs: number) => `frame:${number}    pts:${ptsMs}    pts_time:0\nsample=1\n`;

/** Waits until all bytes are read, valid or not. */
async function readToEnd() {
  pixels.end();
  records.end();
  await Promise.all([finished(pixels, { writable: false }), finished(records, { writable: false })]);
}

test('splits the bytes into images for any chunking', async () => {
  read();
  records.write(record(0, 1000));
  for (let at = 0; at < BYTES; at += 5) pixels.write(Buffer.alloc(Math.min(5, BYTES - at), 7));
  pixels.write(Buffer.alloc(BYTES, 8));
  records.write(record(1, 2000));
  await readToEnd();
  expect(got.map(({ ptsMs, pixels: { data } }) => [ptsMs, data.length, data[0]])).toEqual([
    [1000, BYTES, 7],
    [2000, BYTES, 8],
  ]);
  expect(got[0]?.pixels).toMatchObject(SIZE);
});

test.each<[string, { width: number; height: number }]>([
  ['wider than was asked for', { width: 17, height: 1 }],
  ['of a gigabyte a side', { width: 1e9, height: 1e9 }],
  ['without pixels', { width: 0, height: 4 }],
])('gives no image of output that says it is %s, and reads it to its end', async (_name, size) => {
  read(size);
  records.write(record(0, 0));
  pixels.write(Buffer.alloc(1_000_000));
  await readToEnd();
  expect(got).toEqual([]);
});

test('returns no partial image when the bytes end early', async () => {
  read();
  records.write(record(0, 0) + record(1, 1000));
  pixels.write(Buffer.alloc(BYTES + BYTES / 2));
  await readToEnd();
  expect(got).toHaveLength(1);
});

test('gives up after images without records, and holds no more of them', async () => {
  read();
  pixels.write(Buffer.alloc(100 * BYTES));
  await new Promise(setImmediate);
  records.write(record(0, 0));
  await readToEnd();
  expect(got).toEqual([]);
});

test('gives up after records without images', async () => {
  read();
  for (let number = 0; number < 1000; number += 1) records.write(record(number, number));
  await new Promise(setImmediate);
  pixels.write(Buffer.alloc(BYTES));
  await readToEnd();
  expect(got).toEqual([]);
});

test('skips text that is no record, of any length', async () => {
  read();
  records.write(`${'x'.repeat(100_000)}\nframe:1e9 pts:1\n${record(0, 3000)}`);
  pixels.write(Buffer.alloc(BYTES));
  await readToEnd();
  expect(got.map(({ ptsMs }) => ptsMs)).toEqual([3000]);
});

test('returns no image of another size after the source has changed its size', async () => {
  read();
  records.write(record(0, 0));
  pixels.write(Buffer.alloc(BYTES));
  await new Promise(setImmediate);
  records.write(record(0, 1000));
  pixels.write(Buffer.alloc(4 * BYTES));
  await readToEnd();
  expect(got).toHaveLength(1);
});

test('reads the output of a decoder that ends before it has named a size', async () => {
  read(undefined);
  pixels.write(Buffer.alloc(1_000_000));
  await readToEnd();
  expect(got).toEqual([]);
});
