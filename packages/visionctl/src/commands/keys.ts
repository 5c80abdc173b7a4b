import { z } from 'zod';
import { queryOf, wholeNumber } from '../command.ts';
import type { CommandGroup } from '../command.ts';
import { facts, table } from '../table.ts';
import { UsageError } from '../usage-error.ts';

const created = z.looseObject({ key_id: z.string(), subject: z.string(), key: z.string() });
const list = z.object({ items: z.array(z.record(z.string(), z.unknown())) });
const COLUMNS = ['key_id', 'subject', 'name', 'scopes', 'created_at', 'last_used_at', 'expires_at', 'revoked_at'];

const shown = (key: z.infer<typeof created>) => ({
  value: key,
  text: `${facts({ key_id: key.key_id, subject: key.subject, key: key.key })}\nThe key is shown this once; keep it now.`,
});

/** An absent list of scopes means all. */
const withScopes = (key: Record<string, unknown>) => ({
  ...key,
  scopes: Array.isArray(key['scopes']) ? key['scopes'].join(',') : 'all',
});

const keyId = { name: 'key_id', summary: 'the 16 characters behind vk_' };

export const keyCommands: CommandGroup = {
  name: 'keys',
  alias: 'key',
  summary: 'API keys of callers',
  commands: [
    {
      name: 'create',
      args: [{ name: 'name', summary: 'a name for operators' }],
      options: {
        subject: {
          value: 'subject',
          summary: 'subject of the key, with which it shares tasks, quota and limits; a new one by default',
        },
        scopes: { value: 'scopes', summary: 'read, create, notify, separated by commas; all by default' },
      },
      summary: 'create an API key',
      run: async ({ admin, args, options }) => {
        const json = {
          name: args['name'],
          ...(options['subject'] === undefined ? {} : { subject: options['subject'] }),
          ...(options['scopes'] === undefined ? {} : { scopes: options['scopes'].split(',') }),
        };
        return shown(await admin.call(created, { method: 'POST', path: '/admin/v1/keys', json }));
      },
    },
    {
      name: 'list',
      options: { subject: { value: 'subject', summary: 'only those of this subject' } },
      summary: 'list API keys, newest first',
      run: async ({ admin, options: { subject } }) => {
        const value = await admin.call(list, { method: 'GET', path: `/admin/v1/keys${queryOf({ subject })}` });
        return { value, text: table(COLUMNS, value.items.map(withScopes)) };
      },
    },
    {
      name: 'show',
      args: [{ name: 'key', summary: 'a key id or its first characters; of a whole key only the id is sent' }],
      summary: 'find keys by their first characters; exit code 1 when there is none',
      run: async ({ admin, args }) => {
        const path = `/admin/v1/keys${queryOf({ id_prefix: idOf(args['key'] ?? '') })}`;
        const value = await admin.call(list, { method: 'GET', path });
        const text = value.items.map((key) => facts(withScopes(key))).join('\n\n');
        return { value, text: text || 'No key begins like that.', exitCode: value.items.length === 0 ? 1 : 0 };
      },
    },
    {
      name: 'revoke',
      args: [keyId],
      summary: 'revoke an API key; in force everywhere within 10 s',
      run: async ({ admin, args }) => {
        const keyId = args['key_id'] ?? '';
        await admin.call(z.unknown(), { method: 'DELETE', path: `/admin/v1/keys/${encodeURIComponent(keyId)}` });
        return { value: { key_id: keyId, revoked: true }, text: `${keyId} is revoked.` };
      },
    },
    {
      name: 'rotate',
      args: [keyId],
      options: { overlap: { value: 'seconds', summary: 'how long both keys work, 86400 by default' } },
      summary: 'make a second key for the same subject and end the first one after the overlap',
      run: async ({ admin, args, options }) => {
        const overlap = wholeNumber(options, 'overlap', 0) ?? 86_400;
        const path = `/admin/v1/keys/${encodeURIComponent(args['key_id'] ?? '')}/rotate`;
        return shown(await admin.call(created, { method: 'POST', path, json: { overlap_s: overlap } }));
      },
    },
  ],
};

/** The part of a key that names it. What stands behind is the secret, which is sent nowhere. */
function idOf(text: string): string {
  const [, id] = /^(?:vk_)?([0-9a-f]{1,16})(?:_.*)?$/i.exec(text.trim()) ?? [];
  if (id === undefined) throw new UsageError('<key> is vk_ and up to 16 hexadecimal digits, or those digits alone.');
  return id.toLowerCase();
}
