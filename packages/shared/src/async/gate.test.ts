import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createGate, GateFullError } from './gate.ts';
import type { Gate } from './gate.ts';

test('no more than the given number run at once and the rest follow in order', async () => {
  const gate = createGate({ concurrency: 2 });
  const started: number[] = [];
  let running = 0;
  let most = 0;
  const all = [0, 1, 2, 3, 4].map((name) =>
    gate.run(async () => {
      started.push(name);
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
    }),
  );
  expect(gate.load()).toBe(5);
  await Promise.all(all);
  expect(started).toEqual([0, 1, 2, 3, 4]);
  expect(most).toBe(2);
  expect(gate.load()).toBe(0);
});

test('work beyond the queue is turned away at once', async () => {
  const gate = createGate({ concurrency: 1, queue: 0 });
  const first = Promise.withResolvers<string>();
  const running = gate.run(() => first.promise);
  await expect(gate.run(async () => 'late')).rejects.toBeInstanceOf(GateFullError);
  first.resolve('first');
  await expect(running).resolves.toBe('first');
  await expect(gate.run(async () => 'next')).resolves.toBe('next');
});

test('a waiter that gives up leaves the queue and never runs', async () => {
  const gate = createGate({ concurrency: 1, queue: 1 });
  const first = Promise.withResolvers<string>();
  const running = gate.run(() => first.promise);
  const gone = new AbortController();
  let ran = false;
  const waiting = gate.run(async () => (ran = true), { signal: gone.signal });
  gone.abort(new Error('client left'));
  await expect(waiting).rejects.toThrow('client left');
  expect(gate.load()).toBe(1);
  const next = gate.run(async () => 'next');
  first.resolve('first');
  await running;
  expect(await next).toBe('next');
  expect(ran).toBe(false);
});

test('a waiter that aborts while it is admitted does not leak its slot', async () => {
  const gate = createGate({ concurrency: 1 });
  const first = Promise.withResolvers<string>();
  const gone = new AbortController();
  const running = gate.run(() => first.promise);
  const second = gate.run(async () => 'second', { signal: gone.signal }).catch(() => 'gave up');
  const third = gate.run(async () => 'third');
  first.resolve('first');
  await running;
  gone.abort(new Error('client left'));
  await second;
  expect(await third).toBe('third');
  await gate.idle();
});

test('work that fails frees its slot', async () => {
  const gate = createGate({ concurrency: 1, queue: 0 });
  await expect(gate.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  await expect(gate.run(async () => 'next')).resolves.toBe('next');
});

test('a gate is idle when its last work has ended, failed work included', async () => {
  const gate = createGate({ concurrency: 1 });
  await gate.idle();
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const failing = gate.run(() => first.promise).catch(() => 'failed');
  let isIdle = false;
  const idle = gate.idle().then(() => (isIdle = true));
  const late = gate.run(() => second.promise);
  first.reject(new Error('no'));
  expect(await failing).toBe('failed');
  expect(isIdle).toBe(false);
  second.resolve();
  await Promise.all([late, idle]);
  expect(isIdle).toBe(true);
});

/** Work that runs until `end()` and reports whether it has begun. */
function held(gate: Gate, owner: string) {
  const end = Promise.withResolvers<void>();
  let hasBegun = false;
  const done = gate.run(
    () => {
      hasBegun = true;
      return end.promise;
    },
    { owner },
  );
  return { hasBegun: () => hasBegun, end: () => (end.resolve(), done) };
}

/** Work that advances the fake clock by `ms`. */
const lasting = (gate: Gate, owner: string, { ms, order }: { ms: number; order: string[] }) =>
  gate.run(
    async () => {
      order.push(owner);
      await new Promise(setImmediate);
      jest.advanceTimersByTime(ms);
    },
    { owner },
  );

describe('owners that wait', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => void jest.useRealTimers());

  test('are served in turn, with any amount of work of one of them', async () => {
    const gate = createGate({ concurrency: 1 });
    const order: string[] = [];
    const owners = ['a', 'a', 'a', 'a', 'b', 'c', 'b'];
    await Promise.all(owners.map((owner) => lasting(gate, owner, { ms: 10, order })));
    expect(order.slice(0, 3).toSorted()).toEqual(['a', 'b', 'c']);
    expect(order.slice(3, 5).toSorted()).toEqual(['a', 'b']);
  });

  test('share the time of the slots: short work comes before the next long work of others', async () => {
    const gate = createGate({ concurrency: 1 });
    const order: string[] = [];
    const long = Array.from({ length: 3 }, () => lasting(gate, 'long', { ms: 100, order }));
    const short = Array.from({ length: 4 }, () => lasting(gate, 'short', { ms: 10, order }));
    await Promise.all([...long, ...short]);
    expect(order).toEqual(['long', 'short', 'short', 'short', 'short', 'long', 'long']);
  });

  test('gain no credit for having been idle', async () => {
    const gate = createGate({ concurrency: 1 });
    const order: string[] = [];
    const busy = Array.from({ length: 8 }, () => lasting(gate, 'busy', { ms: 100, order }));
    await Promise.all(busy.slice(0, 4));
    const late = Array.from({ length: 4 }, () => lasting(gate, 'late', { ms: 100, order }));
    await Promise.all([...busy, ...late]);
    expect(order.slice(4).join(' ')).toMatch(/^busy late (busy late|late busy)/);
  });
});

test('an owner leaves as many slots as it holds, and others share the rest in the same way', async () => {
  const gate = createGate({ concurrency: 16, leavesRoom: true });
  const holdersOf = (owner: string) => Array.from({ length: 20 }, () => held(gate, owner));
  const all = ['a', 'b', 'c', 'd', 'e'].map(holdersOf);
  const begun = () => all.map((works) => works.filter((work) => work.hasBegun()).length);
  await new Promise(setImmediate);
  expect(begun()).toEqual([8, 4, 2, 1, 1]);
  const newcomer = held(gate, 'f');
  await all[0]?.[0]?.end();
  await new Promise(setImmediate);
  expect(newcomer.hasBegun()).toBe(true);
  await Promise.all([newcomer, ...all.flat()].map((work) => work.end()));
  expect(gate.load()).toBe(0);
});

test('a slot that becomes free goes to an owner that may hold one more', async () => {
  const gate = createGate({ concurrency: 3, leavesRoom: true });
  const [first, second, third] = ['a', 'a', 'a'].map((owner) => held(gate, owner));
  const other = held(gate, 'b');
  await new Promise(setImmediate);
  expect([first, second, third, other].map((work) => work?.hasBegun())).toEqual([true, true, false, true]);
  await other.end();
  expect(third?.hasBegun()).toBe(false);
  await first?.end();
  await new Promise(setImmediate);
  expect(third?.hasBegun()).toBe(true);
  await Promise.all([second?.end(), third?.end()]);
  expect(gate.load()).toBe(0);
});

test('without a queue an owner that holds its share is turned away while others are served', async () => {
  const gate = createGate({ concurrency: 4, queue: 0, leavesRoom: true });
  const taken = Array.from({ length: 2 }, () => held(gate, 'a'));
  await expect(gate.run(async () => 'one more', { owner: 'a' })).rejects.toBeInstanceOf(GateFullError);
  await expect(gate.run(async () => 'served', { owner: 'b' })).resolves.toBe('served');
  await Promise.all(taken.map(({ end }) => end()));
});

test('the only slot of a gate is given to any owner', async () => {
  const gate = createGate({ concurrency: 1, leavesRoom: true });
  expect(await gate.run(async () => 'done', { owner: 'a' })).toBe('done');
});

test('an owner without a slot does not wait for others while a spare slot is free', async () => {
  const gate = createGate({ concurrency: 2, spare: 1 });
  const all = ['a', 'a', 'a', 'b', 'c'].map((owner) => held(gate, owner));
  await new Promise(setImmediate);
  expect(all.map((work) => work.hasBegun())).toEqual([true, true, false, true, false]);
  await all[0]?.end();
  await new Promise(setImmediate);
  expect(all.map((work) => work.hasBegun())).toEqual([true, true, false, true, true]);
  await Promise.all(all.map((work) => work.end()));
  expect(gate.load()).toBe(0);
});
