import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createOpenStreams } from './open-streams.ts';

const MINUTE_MS = 60_000;
const answer = () => new EventEmitter() as unknown as ServerResponse;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test('streams end after ten minutes, less or more a tenth, and not all at once', () => {
  const streams = createOpenStreams();
  const signals = Array.from({ length: 50 }, () => streams.begin(answer()));
  const ended = () => signals.filter(({ aborted }) => aborted).length;
  jest.advanceTimersByTime(9 * MINUTE_MS - 1);
  expect(ended()).toBe(0);
  jest.advanceTimersByTime(MINUTE_MS);
  expect(ended()).toBeGreaterThan(0);
  expect(ended()).toBeLessThan(50);
  jest.advanceTimersByTime(MINUTE_MS + 1);
  expect(ended()).toBe(50);
});

test('a process that ends ends its streams, and those that begin then; one that was left holds no timer', () => {
  const streams = createOpenStreams();
  const [open, left] = [answer(), answer()];
  const kept = streams.begin(open);
  streams.begin(left);
  left.emit('close');
  expect(jest.getTimerCount()).toBe(1);
  streams.end();
  expect(kept.aborted).toBe(true);
  expect(streams.begin(answer()).aborted).toBe(true);
});
