import { join } from 'node:path';
import { buildConsole } from '../../packages/console/build/build.ts';
import { root } from './settings.ts';

let built: Promise<void> | undefined;

/** Builds the console of this checkout once, for the gateways that this process starts. */
export function ensureConsole(): Promise<void> {
  built ??= buildConsole(join(root, 'packages/console/dist'));
  return built;
}

export interface Access {
  baseUrl: string;
  adminUrl: string;
  adminToken: string;
}

/**
 * The address of the console with a code that signs in once, within a minute, as the subject of this key. Undefined
 * where a system has no such codes, as one in containers.
 */
export async function signInAddress(access: Access, apiKey: string): Promise<string | undefined> {
  const [, keyId = ''] = /^vk_([0-9a-f]{16})_/.exec(apiKey) ?? [];
  const keys = await ask<{ items: { subject: string }[] }>(access, 'GET', `keys?id_prefix=${keyId}`);
  const subject = keys?.items[0]?.subject;
  const made =
    subject === undefined ? undefined : await ask<{ code: string }>(access, 'POST', 'console-codes', { subject });
  return made && `${access.baseUrl}/console/#code=${made.code}`;
}

async function ask<T>(
  { adminUrl, adminToken }: Access,
  method: string,
  path: string,
  body?: unknown,
): Promise<T | undefined> {
  const reply = await fetch(`${adminUrl}/admin/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  });
  return reply.ok ? ((await reply.json()) as T) : undefined;
}
