import { expect, test } from '@jest/globals';
import { createSlots } from './slots.ts';

test('work that fits runs at once, the rest waits in order until units are given back', async () => {
  const slots = createSlots(10);
  const started: string[] = [];
  const work = (name: string) => {
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    return {
      end: () => end(),
      run: () => {
        started.push(name);
        return ended;
      },
    };
  };
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(work) as [Work, Work, Work, Work];
  const all = [slots.run(a.run, 6), slots.run(b.run, 6), slots.run(c.run, 1), slots.run(d.run, 99)];
  await Promise.resolve();
  expect(started).toEqual(['a']);
  a.end();
  await all[0];
  expect(started).toEqual(['a', 'b', 'c']);
  b.end();
  c.end();
  await Promise.all(all.slice(0, 3));
  expect(started).toEqual(['a', 'b', 'c', 'd']);
  d.end();
  await all[3];
});

test('failed work gives its units back', async () => {
  const slots = createSlots(1);
  await expect(slots.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await slots.run(() => Promise.resolve('yes'))).toBe('yes');
});

interface Work {
  end: () => void;
  run: () => Promise<void>;
}
