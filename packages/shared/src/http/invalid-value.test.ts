import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { refusalOf } from '@vision/contracts/errors';
import { parsePart } from './route.ts';

const schema = z.strictObject({
  name: z.string().min(1).max(3).optional(),
  size: z.int().min(2).max(9).optional(),
  share: z.number().optional(),
  on: z.boolean().optional(),
  id: z.guid().optional(),
  from: z.iso.datetime({ offset: true }).optional(),
  day: z.iso.date().optional(),
  code: z
    .string()
    .regex(/^[a-z]+$/)
    .optional(),
  kind: z.enum(['open', 'closed']).optional(),
  labels: z.array(z.string()).min(1).max(2).optional(),
  when: z
    .discriminatedUnion('kind', [
      z.object({ kind: z.literal('a'), for_ms: z.number() }),
      z.object({ kind: z.literal('b') }),
    ])
    .optional(),
  login: z.union([z.strictObject({ user: z.string() }), z.strictObject({ key: z.string() })]).optional(),
  own: z
    .string()
    .refine(() => false, 'Send what this schema says')
    .optional(),
});

const messageFor = (input: unknown, part: 'query' | 'body' = 'body') =>
  refusalOf(() => parsePart(schema, input, part)).message;

test.each([
  [{ name: 5 }, 'name: Send a text.'],
  [{ name: '' }, 'name: Send at least 1 character.'],
  [{ name: 'long' }, 'name: Send at most 3 characters.'],
  [{ size: 1 }, 'size: Send a number of at least 2.'],
  [{ size: 10 }, 'size: Send a number of at most 9.'],
  [{ size: 2.5 }, 'size: Send a whole number.'],
  [{ share: null }, 'share: Send a number.'],
  [{ on: 'yes' }, 'on: Send true or false.'],
  [{ id: 'x' }, 'id: Send a UUID (8-4-4-4-12 hexadecimal digits).'],
  [{ from: '2026-03-15' }, 'from: Send a time such as 2026-03-15T08:30:00Z; in a query, write + as %2B.'],
  [{ day: '2026-02-30' }, 'day: Send an existing date such as 2026-03-15.'],
  [{ code: 'A1' }, 'code: Send a text that matches /^[a-z]+$/.'],
  [{ kind: 'half' }, 'kind: Send one of open, closed.'],
  [{ labels: [] }, 'labels: Send at least 1 entry.'],
  [{ labels: ['a', 'b', 'c'] }, 'labels: Send at most 2 entries.'],
  [{ when: { kind: 'c' } }, 'when.kind: Send one of a, b.'],
  [{ when: { kind: 'a' } }, 'when.for_ms: Send a number; it is required.'],
  [{ login: {} }, 'login: Send one of the forms that the API document lists.'],
  [{ colour: 'red' }, 'colour: This operation does not accept it.'],
  [{ own: 'x' }, 'own: Send what this schema says.'],
  [[], 'Send a JSON object.'],
])('says what to send instead of %j', (input, message) => {
  expect(messageFor(input)).toBe(message);
});

test('says that a query parameter was repeated', () => {
  expect(messageFor({ kind: ['open', 'closed'] }, 'query')).toBe('kind: Send it once.');
});

test('says which form a name in the path has', () => {
  const path = z.object({ rule_id: z.string().regex(/^[a-z]+$/) });
  const refusal = refusalOf(() => parsePart(path, { rule_id: 'Yard' }, 'path'));
  expect(refusal).toMatchObject({ kind: 'not_found', reason: 'not_found' });
  expect(refusal.message).toBe('There is no such resource. rule_id: Send a text that matches /^[a-z]+$/.');
});
