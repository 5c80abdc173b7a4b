import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { adminToken, bearer, exchange, refusal, startGateway } from './support/gateway.ts';
import type { Replica, TestGateway } from './support/gateway.ts';

let gateway: TestGateway;
let alone: Replica;
beforeAll(async () => {
  gateway = await startGateway();
  alone = await gateway.addReplica({ DATABASE_URL: 'postgres://vision_gateway@127.0.0.1:1/vision_gateway' }, 'live');
});
afterAll(() => gateway.stop());

const ask = (path: string, method = 'GET', body?: unknown) =>
  exchange(alone.adminUrl + path, method, {
    headers: { ...bearer(adminToken), 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

/** All services behind the gateway answer this. */
const answerWith = (body: unknown) => {
  gateway.upstream.answer = (req, res) => {
    const reply = () => res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    req.resume().on('end', reply);
  };
};

test('a gateway that started without its database answers operators what other services know', async () => {
  expect((await fetch(`${alone.healthUrl}/health/ready`)).status).toBe(503);
  expect((await exchange(`${alone.adminUrl}/admin/v1/status`)).status).toBe(401);
  const status = await ask('/admin/v1/status');
  expect(status.status).toBe(200);
  const { dependencies } = status.body['gateway'] as { dependencies: { name: string; fault?: string }[] };
  expect(dependencies.find(({ name }) => name === 'database')?.fault).toContain('127.0.0.1:1');
  answerWith({ items: [], next_cursor: '' });
  for (const path of ['tasks', 'jobs', 'differences', 'dead-letters/tasks'])
    expect({ path, status: (await ask(`/admin/v1/${path}`)).status }).toEqual({ path, status: 200 });
});

test('a task is shown without what operators did to it, and the gateway is named as silent', async () => {
  const at = '2026-01-01T00:00:02.000Z';
  answerWith({ facts: { at }, happenings: [{ at, what: 'something', details: {} }] });
  const { status, body } = await ask(`/admin/v1/tasks/${randomUUID()}`);
  expect([status, body['unreachable']]).toEqual([200, ['gateway']]);
  expect(body['timeline']).toHaveLength(4);
});

test('what the database has is 503, and so is every act, which its log has to note first', async () => {
  const refused = [503, 'OP-SYS-UNAVAILABLE', 'connection_lost'];
  for (const path of ['keys', 'audit', 'maintenance', 'subjects/s/limits'])
    expect({ path, refused: refusal(await ask(`/admin/v1/${path}`)) }).toEqual({ path, refused });
  const asked = gateway.upstream.seen.length;
  const stop = await ask(`/admin/v1/tasks/${randomUUID()}/stop`, 'POST', { reason: 'not theirs' });
  expect(refusal(stop)).toEqual(refused);
  expect(refusal(await ask('/admin/v1/keys', 'POST', { name: 'n' }))).toEqual(refused);
  expect(gateway.upstream.seen).toHaveLength(asked);
});
