import { expect, test } from '@jest/globals';
import { createGate, GateFullError } from './gate.ts';

/** Work that ends when told to. */
function held() {
  let end: (value: string) => void = () => undefined;
  const done = new Promise<string>((resolve) => {
    end = resolve;
  });
  return { work: () => done, end };
}

test('no more than the given number run at once and the rest follow in order', async () => {
  const gate = createGate({ concurrency: 1, queue: 2 });
  const first = held();
  const order: string[] = [];
  const running = gate.run(first.work);
  const second = gate.run(async () => order.push('second'));
  const third = gate.run(async () => order.push('third'));
  expect(gate.load).toBe(3);
  expect(order).toEqual([]);
  first.end('first');
  await Promise.all([running, second, third]);
  expect(order).toEqual(['second', 'third']);
  expect(gate.load).toBe(0);
});

test('work beyond the queue is turned away at once', async () => {
  const gate = createGate({ concurrency: 1, queue: 0 });
  const first = held();
  const running = gate.run(first.work);
  await expect(gate.run(async () => 'late')).rejects.toBeInstanceOf(GateFullError);
  first.end('first');
  await expect(running).resolves.toBe('first');
  await expect(gate.run(async () => 'next')).resolves.toBe('next');
});

test('whoever gives up waiting leaves the queue and never runs', async () => {
  const gate = createGate({ concurrency: 1, queue: 1 });
  const first = held();
  const running = gate.run(first.work);
  const gone = new AbortController();
  let ran = false;
  const waiting = gate.run(async () => (ran = true), gone.signal);
  gone.abort(new Error('client left'));
  await expect(waiting).rejects.toThrow('client left');
  expect(gate.load).toBe(1);
  first.end('first');
  await running;
  expect(ran).toBe(false);
});

test('work that fails frees its place', async () => {
  const gate = createGate({ concurrency: 1, queue: 0 });
  await expect(gate.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  await expect(gate.run(async () => 'next')).resolves.toBe('next');
});
