import { expect, test } from '@jest/globals';
import { bulkFault } from './bulk.ts';
import { KEPT, readCorpus } from './corpus.ts';
import type { FuzzTarget } from './target.ts';
import { targets, targetUrl } from './targets.ts';

const spin = (ms: number) => {
  const from = process.threadCpuUsage().user;
  while (process.threadCpuUsage().user - from < ms * 1000);
};

test('a parser that is slow for each byte, and one that makes much of little, are found', () => {
  const input = Buffer.from('x');
  const slow = bulkFault({ kind: 'stream', mostMs: 100, open: () => () => spin(60) }, input);
  expect(slow).toMatch(/^takes \d+ ms for a MiB, 100 at most$/);
  let made: unknown[] = [];
  // So much that no garbage of tests before, collected meanwhile, makes up for it.
  const greedy = () => (message: Buffer) =>
    void (made = Array.from(message, (byte) => new Array<number>(128).fill(byte)));
  expect(bulkFault({ kind: 'message', mostMs: 100_000, mostBytes: 1 << 18, open: greedy }, input)).toMatch(
    /^fills \d+ bytes for one$/,
  );
  made = [];
  expect(made).toEqual([]);
  expect(bulkFault({ kind: 'message', mostMs: 10_000, open: () => () => undefined }, input)).toBeUndefined();
});

test.each(Object.keys(targets))(
  '%s: nothing that was ever found is expensive when there is much of it',
  async (name) => {
    const { target } = (await import(targetUrl(name))) as { target: FuzzTarget };
    if (!target.bulk) return;
    for (const { name: entry, bytes } of readCorpus(KEPT, name)) {
      expect([entry, bulkFault(target.bulk, bytes)]).toEqual([entry, undefined]);
    }
  },
);
