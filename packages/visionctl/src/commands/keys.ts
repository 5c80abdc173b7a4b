import { z } from 'zod';
import type { Command } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { facts, table } from '../table.ts';

const created = z.looseObject({ key_id: z.string(), subject: z.string(), key: z.string() });
const list = z.object({ items: z.array(z.record(z.string(), z.unknown())) });
const COLUMNS = ['key_id', 'subject', 'name', 'created_at', 'last_used_at', 'expires_at', 'revoked_at'];

const shown = (key: z.infer<typeof created>) => ({
  value: key,
  text: `${facts({ key_id: key.key_id, subject: key.subject, key: key.key })}\nThe key is shown this once; keep it now.`,
});

export const keyCommands: Command[] = [
  {
    name: 'keys create',
    args: ['name'],
    options: { subject: 'share tasks, quota and limits of this subject' },
    summary: 'create an API key',
    run: async ({ admin, args, options }) => {
      const json = { name: args['name'], ...(options['subject'] === undefined ? {} : { subject: options['subject'] }) };
      return shown(await admin.call(created, { method: 'POST', path: '/admin/v1/keys', json }));
    },
  },
  {
    name: 'keys list',
    options: { subject: 'only those of this subject' },
    summary: 'list API keys, newest first',
    run: async ({ admin, options: { subject } }) => {
      const query = subject === undefined ? '' : `?subject=${encodeURIComponent(subject)}`;
      const value = await admin.call(list, { method: 'GET', path: `/admin/v1/keys${query}` });
      return { value, text: table(COLUMNS, value.items) };
    },
  },
  {
    name: 'keys revoke',
    args: ['key_id'],
    summary: 'revoke an API key; in force everywhere within 10 s',
    run: async ({ admin, args }) => {
      const keyId = args['key_id'] ?? '';
      await admin.call(z.unknown(), { method: 'DELETE', path: `/admin/v1/keys/${encodeURIComponent(keyId)}` });
      return { value: { key_id: keyId, revoked: true }, text: `${keyId} is revoked.` };
    },
  },
  {
    name: 'keys rotate',
    args: ['key_id'],
    options: { overlap: 'seconds in which both keys work, 86400 by default' },
    summary: 'make a second key for the same subject and end the first one after the overlap',
    run: async ({ admin, args, options }) => {
      const overlap = Number(options['overlap'] ?? 86_400);
      if (!Number.isInteger(overlap) || overlap < 0) throw new UsageError('--overlap is a whole number of seconds.');
      const path = `/admin/v1/keys/${encodeURIComponent(args['key_id'] ?? '')}/rotate`;
      return shown(await admin.call(created, { method: 'POST', path, json: { overlap_s: overlap } }));
    },
  },
];
