import { expect, test } from '@jest/globals';
import { KEPT, readCorpus } from './corpus.ts';
import type { FuzzTarget } from './target.ts';
import { targets, targetUrl } from './targets.ts';

test.each(Object.keys(targets))('%s: everything that was ever found holds', async (name) => {
  const { target } = (await import(targetUrl(name))) as { target: FuzzTarget };
  const entries = readCorpus(KEPT, name);
  expect(entries.length).toBeGreaterThan(0);
  for (const { name: entry, bytes } of entries) {
    expect([entry, await outcomeOf(target, bytes)]).toEqual([entry, 'holds']);
  }
});

async function outcomeOf(target: FuzzTarget, bytes: Buffer): Promise<unknown> {
  await target.check(bytes);
  return 'holds';
}
