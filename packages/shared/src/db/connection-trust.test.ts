import { expect, test } from '@jest/globals';
import { DatabaseError } from 'pg';
import { createConnectionTrust } from './connection-trust.ts';

function world(poolMax = 2) {
  const clock = { now: 0 };
  const trust = createConnectionTrust({ poolMax, statementTimeoutMs: 5_000, now: () => clock.now });
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

test('replaces free connections that answered last before the server should have answered the lost statement', () => {
  const { clock, trust, open } = world();
  const [lost, idle, late, busy] = [open(), open(), open(), open()];
  clock.now = 1_000;
  trust.noteSent(lost);
  clock.now = 1_010;
  // After the lost statement was sent, and yet before the peer can be known to have lived on.
  trust.noteAnswer(late);
  clock.now = 6_500;
  trust.noteAnswer(busy);
  clock.now = 9_000;
  trust.noteFailure(lost, silence, 1_000);
  expect([idle, late, busy].map(trust.isTrusted)).toEqual([false, false, true]);
  expect(trust.isTrusted(open())).toBe(true);
});

test('of a connection that was reset at once only those that were silent before are replaced', () => {
  const { clock, trust, open } = world();
  const [lost, idle, busy] = [open(), open(), open()];
  clock.now = 1_000;
  trust.noteSent(lost);
  clock.now = 1_010;
  trust.noteAnswer(busy);
  clock.now = 1_020;
  trust.noteFailure(lost, new Error('read ECONNRESET'), 1_000);
  expect([idle, busy].map(trust.isTrusted)).toEqual([false, true]);
});

test('replaces them as soon as a statement is overdue, before it is given up', () => {
  const { clock, trust, open } = world();
  const [silent, idle] = [open(), open()];
  trust.noteSent(silent);
  clock.now = 5_400;
  expect(trust.isTrusted(idle)).toBe(true);
  clock.now = 5_600;
  expect(trust.isTrusted(idle)).toBe(false);
  // An answer after all says that the peer is there; what was idle all the while may still be lost.
  trust.noteAnswer(silent);
  expect([silent, idle].map(trust.isTrusted)).toEqual([true, false]);
});

test('without a limit of statements a slow one says nothing of others', () => {
  const trust = createConnectionTrust({ poolMax: 2, statementTimeoutMs: 0, now: () => 1e9 });
  const [silent, idle] = [{}, {}];
  trust.noteOpened(idle);
  trust.noteOpened(silent);
  trust.noteSent(silent);
  expect(trust.isTrusted(idle)).toBe(true);
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
