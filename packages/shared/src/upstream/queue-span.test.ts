import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { createGate, GateFullError } from '../async/gate.ts';
import { recordSpans } from '../testing/recorded-spans.ts';
import { ClientGoneError, UpstreamTimeoutError } from './ended-call.ts';
import { runInTurn } from './queue-span.ts';

const recorded = recordSpans();
afterAll(() => recorded.stop());
beforeEach(() => recorded.clear());

const told = () => recorded.spans().map(({ attributes }) => [attributes['app.call.outcome'], attributes['error.type']]);

test('the wait for a slot is a span that ends when the work begins', async () => {
  const gate = createGate({ concurrency: 1 });
  const first = Promise.withResolvers<void>();
  const running = runInTurn(gate, 'detect', () => first.promise);
  const waiting = runInTurn(gate, 'detect', () => Promise.resolve('done'));
  await new Promise(setImmediate);
  expect(told()).toEqual([['ok', undefined]]);
  first.resolve();
  expect(await waiting).toBe('done');
  await running;
  expect(told()).toEqual([
    ['ok', undefined],
    ['ok', undefined],
  ]);
  expect(recorded.spans()[1]?.attributes['app.queue.wait_ms']).toBeGreaterThanOrEqual(0);
});

test('a deadline while queued, a cancelled wait and a full queue have different outcomes', async () => {
  const gate = createGate({ concurrency: 1, queue: 1 });
  const first = Promise.withResolvers<void>();
  const running = runInTurn(gate, 'detect', () => first.promise);
  for (const reason of [new UpstreamTimeoutError('deadline_exceeded', 300), new ClientGoneError()]) {
    const leaving = new AbortController();
    const waiting = runInTurn(gate, 'detect', () => Promise.resolve(), { signal: leaving.signal });
    await expect(runInTurn(gate, 'detect', () => Promise.resolve())).rejects.toBeInstanceOf(GateFullError);
    leaving.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  }
  expect(told().slice(1)).toEqual([
    ['saturated', 'saturated'],
    ['queue_timeout', 'queue_timeout'],
    ['saturated', 'saturated'],
    ['client_left', undefined],
  ]);
  expect(recorded.spans()[2]?.attributes['app.timeout.limit_ms']).toBe(300);
  first.resolve();
  await running;
});

test('work that fails in its turn was not kept waiting', async () => {
  const failing = () => Promise.reject(new Error('the work'));
  await expect(runInTurn(createGate({ concurrency: 1 }), 'detect', failing)).rejects.toThrow('the work');
  expect(told()).toEqual([['ok', undefined]]);
});
