import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MAX_WEBHOOK_KEYS } from '@vision/contracts/webhook-keys';
import { until } from '@vision/shared/testing/until';
import { verifyTestToken } from '@vision/shared/testing/service-keys';
import { bearer, exchange, startGateway } from './support/gateway.ts';
import type { TestGateway } from './support/gateway.ts';
import { valuesOf } from './support/upstream.ts';

interface Key {
  subject: string;
  key_id: string | null;
}

let gateway: TestGateway;
/** Keys of the endpoints of notify, and the ended keys that it received. */
let keys: Key[] = [];
const told: (Key & { reason: string })[] = [];
let rounds = 0;
/** Bytes of the largest request with ended keys. */
let largest = 0;
const afterOf = ({ url = '' }: { url?: string | undefined }) =>
  new URL(url, 'http://notify').searchParams.get('after_subject');
const pageAfter = (subject: string | null) => {
  const from = subject === null ? 0 : keys.findIndex((key) => key.subject === subject) + 1;
  return keys.slice(from, from + MAX_WEBHOOK_KEYS);
};
beforeAll(async () => {
  gateway = await startGateway({ WEBHOOK_KEYS_POLL_MS: '20' });
  gateway.upstream.answerOwn = (req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = { endpoints: 1, deliveries: 0 };
      const sent = Buffer.concat(chunks);
      largest = Math.max(largest, sent.length);
      if (req.method === 'POST') told.push(...(JSON.parse(sent.toString()) as { items: typeof told }).items);
      else if (afterOf(req) === null) rounds += 1;
      res
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(req.method === 'POST' ? body : { items: pageAfter(afterOf(req)) }));
    });
  };
});
afterAll(() => gateway.stop());

/** The ended keys that notify receives while it has endpoints of these keys. */
async function toldOf(...those: Key[]) {
  const from = told.length;
  keys = those;
  const seen = rounds;
  await until(() => rounds > seen + 2);
  keys = [];
  // The current round sends its ended keys before the next one begins.
  const last = rounds;
  await until(() => rounds > last);
  return told.slice(from);
}

test('a request tells notify by which key it was made', async () => {
  const { key, keyId } = await gateway.newKey();
  await exchange(`${gateway.url}/v1/vision/webhook-endpoints`, 'GET', { headers: bearer(key) });
  const [authorization = ''] = valuesOf(gateway.upstream.last().rawHeaders, 'authorization');
  expect(await verifyTestToken('notify', authorization.slice('Bearer '.length))).toMatchObject({ keyId });
});

test('notify receives keys that were revoked, until it has no endpoint of them any more', async () => {
  const [kept, gone] = [await gateway.newKey(), await gateway.newKey()];
  const both = [kept, gone].map(({ keyId, subject }) => ({ key_id: keyId, subject }));
  expect(await toldOf(...both)).toEqual([]);
  await gateway.admin('POST', '/admin/v1/keys', { name: 'beside', subject: gone.subject });
  await gateway.admin('DELETE', `/admin/v1/keys/${gone.keyId}`);
  const revoked = { key_id: gone.keyId, subject: gone.subject, reason: 'key_revoked' };
  expect(await toldOf(...both)).toEqual(expect.arrayContaining([revoked]));
  expect(told.every(({ key_id }) => key_id === gone.keyId)).toBe(true);
});

test('a key that was replaced ends nothing, until it is revoked', async () => {
  const { keyId, subject } = await gateway.newKey();
  await gateway.admin('POST', `/admin/v1/keys/${keyId}/rotate`, { overlap_s: 1 });
  await gateway.database
    .db('api_keys')
    .where({ key_id: keyId })
    .update({ expires_at: new Date(0) });
  expect(await toldOf({ key_id: keyId, subject })).toEqual([]);
  await gateway.admin('DELETE', `/admin/v1/keys/${keyId}`);
  expect((await toldOf({ key_id: keyId, subject }))[0]).toMatchObject({ key_id: keyId, reason: 'key_revoked' });
});

test('endpoints of a subject without a key end, with any key; unknown subjects keep theirs', async () => {
  const { keyId, subject } = await gateway.newKey();
  await gateway.database
    .db('api_keys')
    .where({ key_id: keyId })
    .update({ expires_at: new Date(0) });
  // A key that this database does not know was made after the copy that it was restored from.
  const later = { key_id: 'beefbeefbeefbeef', subject };
  const ended = await toldOf({ key_id: null, subject }, later, { key_id: 'feedfeedfeedfeed', subject: 'unknown' });
  expect(ended[0]).toEqual({ key_id: null, subject, reason: 'no_key' });
  expect(ended.every((one) => one.subject === subject && one.key_id === null)).toBe(true);
});

test('more than a page of keys that end at once are reported in requests that notify takes', async () => {
  const { keyId } = await gateway.newKey();
  const { db } = gateway.database;
  const row = await db('api_keys').where({ key_id: keyId }).first<object>();
  const names = Object.keys(row).filter((name) => !['key_id', 'subject', 'revoked_at'].includes(name));
  await db.raw(
    `insert into api_keys (key_id, subject, revoked_at, ${names.join()})
     select 'ended-' || n, rpad('subject-' || n || '-', 128, 'x'), now(), ${names.map((name) => `k.${name}`).join()}
       from api_keys as k, generate_series(1, 1001) as n where k.key_id = ?`,
    [keyId],
  );
  const all = await db('api_keys').whereRaw(`key_id like 'ended-%'`).select<Key[]>('key_id', 'subject');
  const ended = await toldOf(...all);
  expect(new Set(ended.map(({ key_id }) => key_id)).size).toBe(1_001);
  expect(largest).toBeLessThan(64 * 1024);
});
