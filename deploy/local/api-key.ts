import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from './settings.ts';

/** The API key of this copy: made once through the admin API and kept as long as the gateway accepts it. */
export async function ensureApiKey(
  settings: Settings,
  gateway: { url: string; adminUrl: string; adminToken: string },
): Promise<string> {
  const file = join(settings.localDir, 'api-key');
  if (existsSync(file)) {
    const key = readFileSync(file, 'utf8').trim();
    if (await accepts(gateway.url, key)) return key;
  }
  const key = await createKey(gateway.adminUrl, gateway.adminToken);
  writeFileSync(file, `${key}\n`, { mode: 0o600 });
  return key;
}

async function accepts(url: string, key: string): Promise<boolean> {
  const response = await fetch(`${url}/api/op/v1/scenes`, {
    headers: { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(10_000),
  });
  await response.body?.cancel();
  return response.status !== 401;
}

async function createKey(adminUrl: string, adminToken: string): Promise<string> {
  const response = await fetch(`${adminUrl}/admin/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'local' }),
    signal: AbortSignal.timeout(10_000),
  });
  if (response.status !== 201)
    throw new Error(`The gateway made no API key: ${response.status} ${await response.text()}`);
  const { key } = (await response.json()) as { key: string };
  return key;
}
