import { randomUUID } from 'node:crypto';
import { admin } from '../../support/system.ts';
import type { Attack, AttackGroup } from '../attack.ts';
import { invalid, NOT_FOUND, said } from '../say.ts';

const row = (name: string, expected: string, ...request: Parameters<typeof admin>): Attack => ({
  name,
  expected,
  attempt: async () => said(await admin(...request)),
});

const KEYS = '/admin/v1/keys';
const limitsOf = (subject: string) => `/admin/v1/subjects/${subject}/limits`;
const BAD = invalid('body_invalid');

export const operators: AttackGroup = {
  title: 'The admin API, with its token',
  wanted: 'a fault of the service, or more than an operator may do',
  withinMs: 10_000,
  atOnce: 4,
  attacks: [
    row('half a character in the name of a key', BAD, 'POST', KEYS, { name: '\ud800' }),
    row('a NUL in the name of a key', BAD, 'POST', KEYS, { name: 'a\0b' }),
    row('a name of 60 KiB', BAD, 'POST', KEYS, { name: 'a'.repeat(60_000) }),
    row('a name that is empty', BAD, 'POST', KEYS, { name: '' }),
    row('a key of its own choice', invalid('unknown_field'), 'POST', KEYS, { name: 'a', key: 'vk_0' }),
    row('a subject with SQL', BAD, 'POST', KEYS, { name: 'a', subject: "a'; drop table api_keys; --" }),
    row('a subject with a line break', BAD, 'POST', KEYS, { name: 'a', subject: 'a\nb' }),
    row('limits below nothing', BAD, 'PUT', limitsOf('a'), { images_per_day: -1 }),
    row('limits beyond counting', BAD, 'PUT', limitsOf('a'), { images_per_day: 1e300 }),
    row('limits that are half', BAD, 'PUT', limitsOf('a'), { images_per_day: 0.5 }),
    row('unknown limits', invalid('unknown_field'), 'PUT', limitsOf('a'), { everything: 1 }),
    row('a key that is not there', NOT_FOUND, 'DELETE', `${KEYS}/0000000000000000`),
    row('a key with dots', NOT_FOUND, 'DELETE', `${KEYS}/%2e%2e%2fsubjects`),
    row('a key with SQL', NOT_FOUND, 'DELETE', `${KEYS}/${encodeURIComponent("' or 1=1 --")}`),
    row(
      'a verdict on a task that is not there',
      '404 task_not_found',
      'POST',
      `/admin/v1/tasks/${randomUUID()}/verification`,
      { outcome: 'created' },
    ),
    row('maintenance with half a character', BAD, 'PUT', '/admin/v1/maintenance', { enabled: true, reason: '\udfff' }),
    row('maintenance that is a text', BAD, 'PUT', '/admin/v1/maintenance', { enabled: 'true' }),
    row(
      'the list of everything by a pattern',
      invalid('query_invalid'),
      'GET',
      `${KEYS}?subject=${encodeURIComponent('%')}`,
    ),
    row('an unknown parameter', invalid('unknown_field'), 'GET', `${KEYS}?all=1`),
    row('an audit of a billion lines', invalid('query_invalid'), 'GET', '/admin/v1/audit?limit=1000000000'),
    {
      name: 'a key that was revoked, rotated',
      expected: '409 key_ended',
      attempt: async () => {
        const { body } = await admin('POST', KEYS, { name: 'attacks' });
        const id = String(body['key_id']);
        await admin('DELETE', `${KEYS}/${id}`);
        return said(await admin('POST', `${KEYS}/${id}/rotate`, { overlap_s: 0 }));
      },
    },
  ],
};
