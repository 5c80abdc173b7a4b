import { expect, test } from '@jest/globals';
import { createGate, GateFullError, mostForOne } from './gate.ts';
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

test('whoever gives up waiting leaves the queue and never runs', async () => {
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

test('whoever gives up in the moment of being admitted loses no place', async () => {
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

test('work that fails frees its place', async () => {
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

/** Work that ends when it is told to, and says when it has begun. */
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

test('owners take turns, however much work one of them has', async () => {
  const gate = createGate({ concurrency: 1 });
  const order: string[] = [];
  const work = (owner: string) => gate.run(async () => void order.push(owner), { owner });
  await Promise.all([...Array.from({ length: 4 }, () => work('a')), work('b'), work('c'), work('b')]);
  expect(order).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
});

test('one owner never holds more than its places, and another finds one free', async () => {
  const gate = createGate({ concurrency: 3, perOwner: 2 });
  const [first, second, third] = ['a', 'a', 'a'].map((owner) => held(gate, owner));
  expect(third?.hasBegun()).toBe(false);
  const other = held(gate, 'b');
  await new Promise(setImmediate);
  expect([first?.hasBegun(), second?.hasBegun(), third?.hasBegun(), other.hasBegun()]).toEqual([
    true,
    true,
    false,
    true,
  ]);
  await other.end();
  expect(third?.hasBegun()).toBe(false);
  await first?.end();
  await new Promise(setImmediate);
  expect(third?.hasBegun()).toBe(true);
  await Promise.all([second?.end(), third?.end()]);
  expect(gate.load()).toBe(0);
});

test('without a queue an owner at its limit is turned away while others are served', async () => {
  const gate = createGate({ concurrency: 4, queue: 0, perOwner: mostForOne(4) });
  const taken = Array.from({ length: 3 }, () => held(gate, 'a'));
  await expect(gate.run(async () => 'one more', { owner: 'a' })).rejects.toBeInstanceOf(GateFullError);
  await expect(gate.run(async () => 'served', { owner: 'b' })).resolves.toBe('served');
  await Promise.all(taken.map(({ end }) => end()));
});

test('one owner leaves a place to others wherever there is more than one', () => {
  expect([1, 2, 3, 4, 16].map(mostForOne)).toEqual([1, 1, 2, 3, 12]);
});
