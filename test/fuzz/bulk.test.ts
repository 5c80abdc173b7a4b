import { expect, test } from '@jest/globals';
import { bulkFault } from './bulk.ts';
import { KEPT, readCorpus } from './corpus.ts';
import { converse } from './fed-socket.ts';
import type { Bulk, FuzzTarget } from './target.ts';
import { targets, targetUrl } from './targets.ts';

const spin = (ms: number) => {
  const from = process.threadCpuUsage().user;
  while (process.threadCpuUsage().user - from < ms * 1000);
};

test('a parser that is slow for each byte, and one that makes much of little, are found', async () => {
  const input = Buffer.from('x');
  const slow = await bulkFault({ kind: 'stream', mostMs: 100, open: () => () => spin(60) }, input);
  expect(slow).toMatch(/^takes \d+ ms for a MiB, 100 at most$/);
  let made: unknown[] = [];
  // So much that no garbage of tests before, collected meanwhile, makes up for it.
  const greedy = () => (message: Buffer) =>
    void (made = Array.from(message, (byte) => new Array<number>(128).fill(byte)));
  expect(await bulkFault({ kind: 'message', mostMs: 100_000, mostBytes: 1 << 18, open: greedy }, input)).toMatch(
    /^fills \d+ bytes for one$/,
  );
  made = [];
  expect(made).toEqual([]);
  const cheap = await bulkFault({ kind: 'message', mostMs: 10_000, open: () => () => undefined }, input);
  expect(cheap).toBeUndefined();
});

test('what a conversation costs is counted until it asks for the next piece', async () => {
  const talk = (costMs: number) => async (socket: AsyncIterable<unknown>) => {
    for await (const _piece of socket) {
      await new Promise(setImmediate);
      spin(costMs);
    }
  };
  const open =
    (costMs: number): Bulk['open'] =>
    (stop) =>
      converse(talk(costMs), stop);
  const input = Buffer.from('x');
  expect(await bulkFault({ kind: 'stream', mostMs: 100, open: open(60) }, input)).toMatch(/^takes \d+ ms for a MiB/);
  expect(await bulkFault({ kind: 'stream', mostMs: 10_000, open: open(0) }, input)).toBeUndefined();
});

test('a conversation that ends reads no more and says nothing', async () => {
  const ends = () => Promise.reject(new Error('unreadable'));
  const leaves = async (socket: AsyncIterable<unknown>) => {
    for await (const _piece of socket) return;
  };
  for (const talk of [ends, leaves]) {
    const open: Bulk['open'] = (stop) => converse(talk, stop);
    expect(await bulkFault({ kind: 'stream', mostMs: 0, open }, Buffer.from('x'))).toBeUndefined();
  }
});

test.each(Object.keys(targets))(
  '%s: nothing that was ever found is expensive when there is much of it',
  async (name) => {
    const { target } = (await import(targetUrl(name))) as { target: FuzzTarget };
    if (!target.bulk) return;
    for (const { name: entry, bytes } of readCorpus(KEPT, name)) {
      expect([entry, await bulkFault(target.bulk, bytes)]).toEqual([entry, undefined]);
    }
  },
);
