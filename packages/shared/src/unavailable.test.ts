import { expect, test } from '@jest/globals';
import type { AppError } from './errors.ts';
import { fail } from './errors.ts';
import { asUnavailable } from './unavailable.ts';

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
  ['a refusal', fail.requestInvalid('x', 'y')],
  ['a text', 'Connection terminated'],
])('%s is none', (_name, error) => {
  expect(asUnavailable(error)).toBeUndefined();
});

test('an outage that is known as one stays as it is', () => {
  const known: AppError = fail.upstreamDown('timeout');
  expect(asUnavailable(known)).toBe(known);
});
