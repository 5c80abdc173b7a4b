import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { startGateway } from './support/gateway.ts';
import type { TestGateway } from './support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

const answerWith = (body: unknown) => (req: IncomingMessage, res: ServerResponse) => {
  req.resume().on('end', () => res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)));
};
const audit = async () => (await gateway.admin('GET', '/admin/v1/audit')).body['items'] as Record<string, unknown>[];
const post = (path: string, body?: unknown) => gateway.admin('POST', path, body, { 'x-operator': 'zoe@ops' });

const id = '01890000-0000-7000-8000-000000000000';
const job = { job_id: id, status: 'stopped', frames_published: 3 };

test('jobs of the backend are listed and stopped; the stop stands in the audit log with its reason', async () => {
  gateway.upstream.answer = answerWith({ items: [{ job }], next_cursor: '' });
  const listed = await gateway.admin('GET', '/admin/v1/backend-jobs?limit=7');
  expect(listed.body).toEqual({ items: [{ job }], next_cursor: '' });
  expect(gateway.upstream.last().url).toBe('/internal/v1/backend-jobs?limit=7');
  gateway.upstream.answer = answerWith(job);
  expect((await post(`/admin/v1/backend-jobs/${id}/stop`, { reason: 'lost' })).body).toEqual(job);
  expect(gateway.upstream.last().url).toBe(`/internal/v1/backend-jobs/${id}/stop`);
  const noted = { actor: 'zoe@ops', action: 'job.stop', target: id, details: { reason: 'lost' }, result: 'done' };
  expect((await audit())[0]).toMatchObject(noted);
  expect((await post(`/admin/v1/backend-jobs/${id}/stop`, {})).status).toBe(400);
});

test('a reservation is ended by hand; who and why stand in the audit log', async () => {
  const ended = { reservation_id: `${id}/1`, subject: 's', units: 1, charged: 0 };
  gateway.upstream.answer = answerWith(ended);
  const body = { reservation_id: `${id}/1`, outcome: 'refund', reason: 'lost' };
  expect((await post('/admin/v1/quota/reservations/end', body)).body).toEqual(ended);
  const noted = { actor: 'zoe@ops', action: 'reservation.refund', target: `${id}/1`, details: { reason: 'lost' } };
  expect((await audit())[0]).toMatchObject({ ...noted, result: 'done' });
});

test('a page of the bucket is compared by the service that was named', async () => {
  const page = { checked: 1, missing: [{ task_id: id, object_key: 'segments/x' }], next_cursor: '' };
  gateway.upstream.answer = answerWith(page);
  expect((await post('/admin/v1/bucket/scan', { service: 'results' })).body).toEqual(page);
  expect(gateway.upstream.last().url).toBe('/internal/v1/objects/scan');
  expect((await post('/admin/v1/bucket/scan', { service: 'quota' })).status).toBe(400);
  const asked = gateway.upstream.seen.length;
  const cursors = { tasks: `${id}/0`, images: id, results: `${id}/0/x` };
  for (const [service, after] of Object.entries(cursors))
    expect((await post('/admin/v1/bucket/scan', { service, after })).status).toBe(400);
  expect(gateway.upstream.seen).toHaveLength(asked);
  for (const [service, after] of [
    ['tasks', id],
    ['images', `${id}/0`],
    ['results', `${id}/12/${id}`],
    ['results', `track-snapshots/${id}/a1-7`],
  ])
    expect((await post('/admin/v1/bucket/scan', { service, after })).status).toBe(200);
});

test('the ledger makes its reservations due before the others look', async () => {
  gateway.upstream.answer = answerWith({ items: [] });
  expect((await post('/admin/v1/differences/run')).body).toEqual({ items: [], unreachable: [] });
  expect(gateway.upstream.seen.map(({ url }) => url)).toEqual(Array(4).fill('/internal/v1/audits/run'));
});
