import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createLogger } from '@vision/shared/logger';
import { createAddressPolicy } from '@vision/shared/net/address-policy';
import { createSecretBox } from '@vision/shared/secret-box';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { migrations } from '../src/db/migrations/list.ts';
import { claimDeliveries } from '../src/db/webhook-deliveries.ts';
import type { ClaimedDelivery } from '../src/db/webhook-deliveries.ts';
import { createHostPace } from '../src/domain/host-pace.ts';
import type { HostPace } from '../src/domain/host-pace.ts';
import { sealFor } from '../src/domain/webhook-box.ts';
import { createSignals } from '../src/signals.ts';
import { attemptDelivery } from '../src/use-cases/webhooks/attempt-delivery.ts';
import type { WebhookTools } from '../src/use-cases/deps.ts';
import { createRecordAttempt } from '../src/use-cases/webhooks/record-attempt.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(migrations);
});
beforeEach(async () => {
  await database.db('webhook_endpoints').delete();
  await database.db('events').delete();
});
afterAll(() => database.drop());

const box = Buffer.alloc(8);

/** An endpoint with deliveries that have been due for this time. */
async function endpointWith(due: number, { subject = 'acme', minutes = 1 } = {}): Promise<string> {
  const key = randomUUID();
  const row = { endpoint_key: key, subject, endpoint_id: key, url_box: box, host: 'example.org', secret_box: box };
  await database.db('webhook_endpoints').insert({ ...row, is_enabled: true, position: 0 });
  await database.db.raw(
    `insert into webhook_deliveries (delivery_id, endpoint_key, subject, position, event_id, type, lease_until)
     select gen_random_uuid(), :key, :subject, 0, gen_random_uuid(), 'task.running',
            now() - make_interval(mins => :minutes) from generate_series(1, :due)`,
    { key, subject, due, minutes },
  );
  return key;
}

/** Number of deliveries of each endpoint, or each subject, after a process has claimed up to its limits. */
async function claimed(
  by: 'endpoint_key' | 'subject',
  { limit = 256, endpoints = {}, subjects = {} }: { limit?: number; endpoints?: object; subjects?: object } = {},
) {
  const busy = {
    endpoints: new Map<string, number>(Object.entries(endpoints)),
    subjects: new Map<string, number>(Object.entries(subjects)),
  };
  const bounds = { limit, leaseMs: 60_000, perEndpoint: 8, perSubject: 16, busy };
  const counts = new Map<string, number>();
  for (const one of await claimDeliveries(database.db, bounds)) counts.set(one[by], (counts.get(one[by]) ?? 0) + 1);
  return counts;
}

test('endpoints of a subject share its slots, whichever has more, or older ones, to send', async () => {
  const [first, second, third] = [
    await endpointWith(40, { minutes: 9 }),
    await endpointWith(40, { minutes: 5 }),
    await endpointWith(6),
  ];
  const counts = await claimed('endpoint_key');
  expect([first, second, third].map((key) => counts.get(key))).toEqual([6, 5, 5]);
});

test('an endpoint that hangs keeps its slots, and the others share what is left of the subject', async () => {
  const [hangs, one, other] = [
    await endpointWith(40, { minutes: 9 }),
    await endpointWith(40, { minutes: 5 }),
    await endpointWith(40),
  ];
  const counts = await claimed('endpoint_key', { endpoints: { [hangs]: 8 }, subjects: { acme: 8 } });
  expect([hangs, one, other].map((key) => counts.get(key))).toEqual([undefined, 4, 4]);
});

test('subjects share the slots of a process, however many endpoints each of them has', async () => {
  for (let count = 0; count < 3; count += 1) await endpointWith(40, { minutes: 9 });
  await endpointWith(40, { subject: 'late' });
  expect(await claimed('subject', { limit: 10 })).toEqual(
    new Map([
      ['acme', 5],
      ['late', 5],
    ]),
  );
});

test('a subject with many running webhooks leaves slots to the others', async () => {
  await endpointWith(40, { minutes: 9 });
  await endpointWith(40, { subject: 'late' });
  expect(await claimed('subject', { limit: 4, subjects: { acme: 4 } })).toEqual(new Map([['late', 4]]));
});

const secrets = createSecretBox([{ version: 1, key: Buffer.alloc(32, 7) }]);
const urlOf = (key: string, name: string) => sealFor(secrets, key, 'url', `https://${name}.example.org/`);

/** An endpoint whose only webhook is claimed; records the resolved and requested hosts, and the decrypted texts. */
async function claimedWebhook() {
  const key = await endpointWith(1);
  const sealed = {
    url_box: urlOf(key, 'first'),
    secret_box: sealFor(secrets, key, 'secret', 'whsec_MfKQ9r8GKYqrTwjU'),
  };
  await database.db('webhook_endpoints').update(sealed);
  await database.db.raw(
    `insert into events (subject, position, event_id, type, occurred_at, data)
     select subject, position, event_id, type, now(), '{}' from webhook_deliveries`,
  );
  const claimNext = async () => {
    const busy = { endpoints: new Map<string, number>(), subjects: new Map<string, number>() };
    const bounds = { limit: 1, leaseMs: 60_000, perEndpoint: 1, perSubject: 1, busy };
    const [claim] = await claimDeliveries(database.db, bounds);
    if (!claim) throw new Error('nothing is due');
    return claim;
  };
  const resolved: string[] = [];
  const sent: string[] = [];
  const opened: string[] = [];
  const webhooks = {
    box: {
      ...secrets,
      open: (sealed: Buffer, context: string) => {
        opened.push(context);
        return secrets.open(sealed, context);
      },
    },
    rules: { policy: createAddressPolicy([], { isAllowedPort: () => true }), allowsHttp: false },
    http: {
      resolve: ({ url }: { url: { host: string } }) => {
        resolved.push(url.host);
        return Promise.resolve({ address: '192.0.2.7' });
      },
      post: ({ url }: { url: { host: string } }) => {
        sent.push(url.host);
        return Promise.resolve({ outcome: 'delivered', status: 204 });
      },
    },
  } as unknown as WebhookTools;
  const deps = { db: database.db, signals: createSignals(createLogger('notify', 'silent')), webhooks };
  const attempt = (claim: ClaimedDelivery, pace: HostPace = { delayOf: () => 1 }) =>
    attemptDelivery(deps, claim, { pace, record: createRecordAttempt(deps), signal: AbortSignal.timeout(30_000) });
  return { key, claim: await claimNext(), claimNext, attempt, resolved, sent, opened };
}

test('a webhook that waited for the pace of its host goes to the address that its endpoint has then', async () => {
  const { key, claim, claimNext, attempt, sent } = await claimedWebhook();
  await database.db('webhook_endpoints').update({ url_box: urlOf(key, 'second') });
  await attempt(claim);
  expect(sent).toEqual([]);
  await attempt(await claimNext());
  expect(sent).toEqual(['second.example.org']);
});

test('webhooks to one machine keep one pace, under all its names', async () => {
  const paces = createHostPace(1, () => 0);
  const waits: number[] = [];
  const pace: HostPace = {
    delayOf: (host) => {
      waits.push(paces.delayOf(host));
      return 0;
    },
  };
  for (const host of ['first.example.org', 'second.example.org']) {
    const { claim, attempt } = await claimedWebhook();
    await attempt({ ...claim, host }, pace);
    for (const table of ['webhook_endpoints', 'events']) await database.db(table).delete();
  }
  expect(waits).toEqual([0, 0, 0, 1_000]);
});

test.each([
  ['endpoint was deleted', () => database.db('webhook_endpoints').delete()],
  ['endpoint was disabled', () => database.db('webhook_endpoints').update({ is_enabled: false })],
  ['task was deleted', () => database.db('events').delete()],
  ['webhook was claimed again', () => database.db('webhook_deliveries').increment('attempt', 1)],
])('a webhook that waited for the pace of its host is not sent when its %s meanwhile', async (_what, change) => {
  const { claim, attempt, sent } = await claimedWebhook();
  await change();
  await attempt(claim);
  expect(sent).toEqual([]);
});

test('a webhook whose event is no longer in the log is dropped before its host is resolved', async () => {
  const { claim, attempt, resolved } = await claimedWebhook();
  await attempt({ ...claim, occurred_at: null, data: null });
  expect(resolved).toEqual([]);
  expect(await database.db('webhook_deliveries').where({ delivery_id: claim.delivery_id })).toEqual([]);
});

test('the address and the secret of an endpoint are decrypted once for an attempt that waits', async () => {
  const { key, claim, attempt, sent, opened } = await claimedWebhook();
  await attempt(claim);
  expect(sent).toEqual(['first.example.org']);
  expect(opened).toEqual([`webhook url ${key}`, `webhook secret ${key}`]);
});
