import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { environmentList } from './environment.ts';

/** Where something is and how to log in there: an installation cannot do without these. */
const place =
  /(URLS?|URI|ARN|HOST|PORTS?|FILE|DIR|KEYS?|SECRETS?|PASSWORD|USERNAME|TOKENS?|CIDRS|SERVERS|SENTINELS?|SENTINEL_NAME|ENDPOINT|BUCKET|BROKERS|REGION|ID|PREFIX|PROXIES|ORIGINS?|PEPPERS|_TLS|MECHANISM|SCOPE)$/;

test('at most 60 settings are for operators to tune, beside addresses, ports, files and credentials', async () => {
  const list = await environmentList(join(import.meta.dirname, '../..'));
  const settings = [...list.matchAll(/^- `([A-Z0-9_]+)` \(/gm)].map(([, name = '']) => name);
  const tuned = new Set(settings.filter((name) => !place.test(name)));
  expect(settings.length).toBeGreaterThan(100);
  expect(tuned.size).toBeLessThanOrEqual(60);
});
