import { expect, test } from '@jest/globals';
import { DatabaseError } from 'pg';
import { createConnectionTrust } from './connection-trust.ts';

function world(poolMax = 2) {
  const clock = { now: 0 };
  const trust = createConnectionTrust(poolMax, () => clock.now);
  const open = () => {
    const connection = {};
    trust.noteOpened(connection);
    return connection;
  };
  return { clock, trust, open };
}

const answered = (code: string) => Object.assign(new DatabaseError('refused', 7, 'error'), { code });
const silence = new Error('Query read timeout');

test('never uses a connection again whose statement got no answer', () => {
  const { trust, open } = world();
  const connection = open();
  trust.noteFailure(connection, silence, 0);
  expect(trust.failureOf(connection)).toBe(silence);
  expect(trust.isTrusted(connection)).toBe(false);
});

test('keeps a connection on which the server answered with an error', () => {
  const { trust, open } = world();
  const connection = open();
  for (const code of ['57014', '23505', '40001']) trust.noteFailure(connection, answered(code), 0);
  expect(trust.failureOf(connection)).toBeUndefined();
  expect(trust.isTrusted(connection)).toBe(true);
});

test('replaces free connections that have been silent since before the lost statement was sent', () => {
  const { clock, trust, open } = world();
  const [lost, idle, busy] = [open(), open(), open()];
  clock.now = 1_000;
  const sentAt = clock.now;
  clock.now = 5_000;
  trust.noteAnswer(busy);
  clock.now = 11_000;
  trust.noteFailure(lost, silence, sentAt);
  expect(trust.isTrusted(idle)).toBe(false);
  expect(trust.isTrusted(busy)).toBe(true);
  expect(trust.isTrusted(open())).toBe(true);
});

test('replaces every connection that was opened before a server refused to write', () => {
  const { clock, trust, open } = world();
  const [refused, other] = [open(), open()];
  clock.now = 60_000;
  trust.noteAnswer(other);
  trust.noteFailure(refused, answered('25006'), 59_000);
  clock.now = 60_001;
  expect(trust.isTrusted(other)).toBe(false);
  expect(trust.isTrusted(open())).toBe(true);
});

test('opens no more useless connections in ten seconds than the pool has', () => {
  const { clock, trust } = world(2);
  trust.noteUseless();
  clock.now = 4_000;
  trust.noteUseless();
  expect(() => trust.checkMayOpen()).toThrow('the last 2 connections were read-only or did not answer');
  clock.now = 10_000;
  expect(() => trust.checkMayOpen()).not.toThrow();
});
