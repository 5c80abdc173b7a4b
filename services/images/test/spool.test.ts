import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createSpool } from '../src/clients/spool.ts';
import type { Spool, SpoolSession } from '../src/clients/spool.ts';
import { spooled } from './support/raw-client.ts';

let folder: string;
let spool: Spool;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spool-'));
  spool = createSpool(folder, { perFileBytes: 100, totalBytes: 150 });
  await spool.prepare();
});
afterEach(async () => {
  await spool.remove();
  await rm(folder, { recursive: true, force: true });
});

async function put(session: SpoolSession, sizes: number[]) {
  const file = session.create();
  const content = randomBytes(sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  for (const size of sizes) await file.append(content.subarray(at, (at += size)));
  return { file, content };
}

const filesOnDisk = async () => (await spooled(folder)).length;

test('a small upload waits in memory, a larger one on disk, and both can be read twice at once', async () => {
  const session = spool.openSession();
  const small = await put(session, [60, 40]);
  expect(await filesOnDisk()).toBe(0);
  const large = await put(session, [60, 40, 1, 500]);
  expect(await filesOnDisk()).toBe(1);
  for (const { file, content } of [small, large]) {
    expect(await Promise.all([buffer(file.read()), buffer(file.read())])).toEqual([content, content]);
  }
  await session.close();
  expect(await filesOnDisk()).toBe(0);
});

test('all uploads share one memory limit; closing a session frees its share', async () => {
  const [first, second, third] = [spool.openSession(), spool.openSession(), spool.openSession()];
  await put(first, [100]);
  const spilled = await put(second, [30, 40]);
  expect(await filesOnDisk()).toBe(1);
  expect(await buffer(spilled.file.read())).toEqual(spilled.content);
  await first.close();
  await second.close();
  await put(third, [100]);
  expect(await filesOnDisk()).toBe(0);
  await third.close();
});

test('counts stored bytes, in memory and on disk, until their session is closed', async () => {
  const [one, other] = [spool.openSession(), spool.openSession()];
  await put(one, [60, 40]);
  await put(other, [60, 40, 500]);
  expect(spool.bytes()).toBe(700);
  await one.close();
  expect(spool.bytes()).toBe(600);
  await other.close();
  await other.close();
  expect(spool.bytes()).toBe(0);
});
