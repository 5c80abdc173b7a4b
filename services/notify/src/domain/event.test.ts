import { expect, test } from '@jest/globals';
import { eventIdOf } from './event.ts';

const at = new Date('2026-03-15T08:30:01.250Z');

test('the id of a fact is a UUIDv7 of its time, the same at any time of generation', () => {
  const id = eventIdOf(at, 'task 1 2');
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBe(at.getTime());
  expect(eventIdOf(at, 'task 1 2')).toBe(id);
});

test('another fact at the same time has another id', () => {
  expect(eventIdOf(at, 'task 1 3')).not.toBe(eventIdOf(at, 'task 1 2'));
});
