import { expect, test } from '@jest/globals';
import type { AppError } from '@vision/contracts/errors';
import { fail } from '@vision/contracts/errors';
import { asOutage, asUnavailable } from './unavailable.ts';

const coded = (code: string, message = 'failed') => Object.assign(new Error(message), { code });

test.each<[string, Error]>([
  ['a refused connection', coded('ECONNREFUSED')],
  ['a broken pipe', coded('EPIPE')],
  ['a server that shuts down', coded('57P01')],
  ['a lost connection', coded('08006')],
  ['a statement that took too long', coded('57014')],
  ['a full disk', coded('53100')],
  ['a pool without a free connection', Object.assign(new Error('x'), { name: 'KnexTimeoutError' })],
  ['a driver that lost its connection', new Error('Connection terminated unexpectedly')],
  [
    'a rollback on a lost connection',
    new Error('ROLLBACK - Client has encountered a connection error and is not queryable'),
  ],
  ['a statement on a lost connection', new Error('select 1 - Connection terminated unexpectedly')],
  ['a cause of that kind', new Error('outer', { cause: coded('ECONNRESET') })],
])('%s is an outage', (_name, error) => {
  expect(asUnavailable(error)).toMatchObject({ kind: 'unavailable', code: 'OP-SYS-UNAVAILABLE' });
});

test.each<[string, unknown]>([
  ['a broken constraint', coded('23505')],
  ['a syntax error', coded('42601')],
  ['a programming error', new TypeError('x is not a function')],
  ['a refusal', fail.requestInvalid('body_invalid', 'y')],
  ['a text', 'Connection terminated'],
])('%s is none', (_name, error) => {
  expect(asUnavailable(error)).toBeUndefined();
});

test('an outage that is known as one stays as it is', () => {
  const known: AppError = fail.upstreamDown('inference_unreachable');
  expect(asUnavailable(known)).toBe(known);
});

test.each<[string, Error]>([
  ['a statement that took too long', coded('57014')],
  ['a statement of another error that took too long', new Error('outer', { cause: coded('57014') })],
  ['a refusal of the object store', fail.sysUnavailable('object_store_unavailable', coded('AccessDenied'))],
  ['a bucket that is gone', fail.sysUnavailable('object_store_unavailable', coded('NoSuchBucket'))],
])('callers come back after %s; for a loop it is a fault', (_name, error) => {
  expect(asUnavailable(error)?.kind).toBe('unavailable');
  expect(asOutage(error)).toBeUndefined();
});

test('a missing grant is a fault for callers and for loops', () => {
  expect([asUnavailable(coded('42501')), asOutage(coded('42501'))]).toEqual([undefined, undefined]);
});

test('a loop waits for what ends by itself', () => {
  const lost = coded('ECONNRESET');
  expect(asOutage(lost)?.reason).toBe('connection_lost');
  expect(asOutage(coded('40P01'))?.reason).toBe('database_busy');
  expect(asOutage(fail.sysUnavailable('object_store_unavailable', coded('SlowDown')))?.kind).toBe('unavailable');
});
