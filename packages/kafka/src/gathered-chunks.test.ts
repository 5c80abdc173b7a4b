import { expect, jest, test } from '@jest/globals';
import { createGatherer, createRoom } from './gathered-chunks.ts';
import type { Part } from './gathered-chunks.ts';

const part = (partition: number, load = 1): Part => ({
  records: { topic: 'things', partition, next: 1n },
  events: [],
  load,
  heartbeat: () => Promise.resolve(),
});

function world({ most = 10, concurrency = 2 } = {}) {
  const together: number[][] = [];
  const alone: number[] = [];
  const stop = new AbortController();
  let answer: () => Promise<boolean> = () => Promise.resolve(true);
  const gatherer = createGatherer({
    most,
    concurrency,
    signal: stop.signal,
    passTogether: (parts) => {
      together.push(parts.map(({ records }) => records.partition));
      return answer();
    },
  });
  const pass = (one: Part) =>
    gatherer.pass(one, () => {
      alone.push(one.records.partition);
      return Promise.resolve('sought' as const);
    });
  return { pass, together, alone, stop, answers: (next: typeof answer) => void (answer = next) };
}

test('parts that come within moments share a transaction, one that comes alone has its own', async () => {
  const { pass, together, alone } = world();
  expect(await Promise.all([pass(part(0)), pass(part(1)), pass(part(2))])).toEqual(['passed', 'passed', 'passed']);
  expect(await pass(part(3))).toBe('sought');
  expect({ together, alone }).toEqual({ together: [[0, 1, 2]], alone: [3] });
});

test('a transaction holds so much at most, and a part that is more by itself goes alone', async () => {
  const { pass, together, alone } = world({ most: 10 });
  await Promise.all([pass(part(0, 4)), pass(part(1, 5)), pass(part(2, 3)), pass(part(3, 30)), pass(part(4, 2))]);
  expect(together).toEqual([[0, 1]]);
  expect(alone).toEqual([2, 3, 4]);
});

test('a part of a partition that is behind waits for no others, and takes along those that wait', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
  try {
    const { pass, together, alone } = world();
    const first = pass(part(0));
    expect(jest.getTimerCount()).toBe(1);
    await pass({ ...part(1), isBehind: true });
    await first;
    expect(jest.getTimerCount()).toBe(0);
    await pass({ ...part(2), isBehind: true });
    expect({ together, alone }).toEqual({ together: [[0, 1]], alone: [2] });
  } finally {
    jest.useRealTimers();
  }
});

test.each([
  ['comes to nothing', () => Promise.resolve(false)],
  ['fails', () => Promise.reject(new Error('away'))],
])('when the transaction of many %s, each goes alone and gets its own end', async (_how, answer) => {
  const { pass, alone, answers } = world();
  answers(answer);
  expect(await Promise.all([pass(part(0)), pass(part(1))])).toEqual(['sought', 'sought']);
  expect(alone).toEqual([0, 1]);
});

test('no more transactions than allowed run at once', async () => {
  const { pass, answers } = world({ most: 2, concurrency: 2 });
  let [running, most] = [0, 0];
  answers(async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((done) => setImmediate(done));
    running -= 1;
    return true;
  });
  await Promise.all(Array.from({ length: 12 }, (_, at) => pass(part(at))));
  expect(most).toBe(2);
});

test('what waits when the consumer stops is not begun', async () => {
  const { pass, together, alone, stop } = world();
  const passing = [pass(part(0)), pass(part(1))];
  stop.abort();
  for (const one of await Promise.allSettled(passing)) expect(one.status).toBe('rejected');
  expect([together, alone]).toEqual([[], []]);
});

test('a room lets in what it has space for, in order, and what is more by itself alone', async () => {
  const room = createRoom(10);
  const inside: string[] = [];
  const ends = new Map<string, () => void>();
  const enter = (name: string, load: number) =>
    room.run(load, async () => {
      inside.push(name);
      await new Promise<void>((end) => ends.set(name, end));
      inside.splice(inside.indexOf(name), 1);
    });
  const leave = async (name: string) => {
    ends.get(name)?.();
    await new Promise((done) => setImmediate(done));
  };
  const all = [enter('a', 6), enter('b', 4), enter('huge', 50), enter('c', 1)];
  await leave('nobody');
  expect(inside).toEqual(['a', 'b']);
  await leave('b');
  expect(inside).toEqual(['a']);
  await leave('a');
  expect(inside).toEqual(['huge']);
  await leave('huge');
  expect(inside).toEqual(['c']);
  await leave('c');
  await Promise.all(all);
});

test('a failure gives its room back', async () => {
  const room = createRoom(1);
  await expect(room.run(1, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await room.run(1, () => Promise.resolve('in'))).toBe('in');
});
