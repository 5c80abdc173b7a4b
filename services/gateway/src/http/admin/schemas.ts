import type { Request } from 'express';
import { z } from 'zod';
import { keyScopes } from '@vision/contracts/scopes';
import { fail } from '@vision/contracts/errors';
import type { ApiKey } from '../../domain/api-key.ts';

export const subject = z
  .string()
  .regex(/^[A-Za-z0-9][\w.@:-]{0,127}$/, 'letters, digits and . _ @ : - only, at most 128')
  .describe('Subject with its tasks, quota and limits');
export const subjectPath = z.object({ subject });
export const keyPath = z.object({ key_id: z.string().regex(/^[0-9a-f]{16}$/) });
/**
 * Text for people: no control characters, which could forge lines, and no unpaired surrogates, which cannot be stored.
 */
export const words = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, 'no control characters')
    .refine((text) => text.isWellFormed(), 'no unpaired surrogates');

/** Format characters (as U+202E, which writes from right to left), separators of lines and of paragraphs. */
const UNSEEN = /[\p{Cf}\p{Zl}\p{Zp}]/u;

/** A name without characters that change the direction of text, are invisible, or begin a line. */
export const keyName = words(100)
  .min(1)
  .refine((text) => !UNSEEN.test(text), 'no formatting characters');

/** What a key is limited to. */
export const scopes = z
  .array(z.enum(keyScopes))
  .min(1)
  .refine((list) => new Set(list).size === list.length, 'each scope once')
  .describe(
    '`read`: operations that change nothing. `create`: operations that create, stop or delete. `notify`: alarm ' +
      'rules, reviews and settings of notifications. Absent: all',
  );

export const keyView = z
  .object({
    key_id: z.string(),
    subject: z.string(),
    name: z.string(),
    scopes: scopes.optional(),
    created_at: z.iso.datetime(),
    last_used_at: z.iso.datetime().optional().describe('To the minute'),
    expires_at: z.iso.datetime().optional(),
    revoked_at: z.iso.datetime().optional(),
  })
  .meta({ id: 'ApiKey', description: 'An API key without its text' });
export const createdKey = keyView
  .pick({ key_id: true, subject: true, name: true, scopes: true, created_at: true })
  .extend({ key: z.string().describe('Shown here only') })
  .meta({ id: 'CreatedApiKey' });

const exampleKey = {
  key_id: '5b1e7c449a516f0d',
  subject: 'acme',
  name: 'yard cameras',
  created_at: '2026-03-15T08:30:00.000Z',
};
export const exampleKeyView: z.infer<typeof keyView> = { ...exampleKey, last_used_at: '2026-03-15T09:12:00.000Z' };
export const exampleCreatedKey: z.infer<typeof createdKey> = {
  ...exampleKey,
  key: 'vk_5b1e7c449a516f0d_0000000000000000000000000000000000000000000',
};

export function toKeyView(row: ApiKey): z.infer<typeof keyView> {
  return {
    key_id: row.key_id,
    subject: row.subject,
    name: row.name,
    ...(row.scopes === null ? {} : { scopes: row.scopes }),
    created_at: row.created_at.toISOString(),
    ...timeOf('last_used_at', row.last_used_at),
    ...timeOf('expires_at', row.expires_at),
    ...timeOf('revoked_at', row.revoked_at),
  };
}

const OPERATOR_NAME = /^[\w.@:-]{1,64}$/;

/** Documents the header that `actorOf` reads. */
export const operatorHeaders = z.object({
  'X-Operator': z
    .string()
    .regex(OPERATOR_NAME)
    .optional()
    .meta({ description: 'Name of the operator, for the audit log; `admin` when absent', example: 'zoe@ops' }),
});

/** The actor for the audit log: the X-Operator header, which is trusted because its sender has the admin token. */
export function actorOf(req: Request): string {
  const named = req.get('x-operator');
  if (named === undefined) return 'admin';
  if (OPERATOR_NAME.test(named)) return named;
  throw operatorInvalid();
}

export const operatorInvalid = () =>
  fail.requestInvalid('operator_invalid', 'X-Operator: letters, digits and . _ @ : - only, at most 64.', {
    field: 'X-Operator',
  });

function timeOf<N extends string>(name: N, at: Date | null): Partial<Record<N, string>> {
  return at === null ? {} : ({ [name]: at.toISOString() } as Record<N, string>);
}
