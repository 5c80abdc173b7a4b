import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { defaultLimits } from '@vision/contracts/limits';
import { verifyTestToken } from '@vision/shared/testing/service-keys';
import { until } from '@vision/shared/testing/until';
import { bearer, exchange, refusal, startGateway } from './support/gateway.ts';
import type { Replica, TestGateway } from './support/gateway.ts';
import { valuesOf } from './support/upstream.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

const answerWith = (status: number, body: unknown) => (req: IncomingMessage, res: ServerResponse) => {
  const type = status < 400 ? 'application/json' : 'application/problem+json';
  req.resume().on('end', () => res.writeHead(status, { 'content-type': type }).end(JSON.stringify(body)));
};
const audit = async () => (await gateway.admin('GET', '/admin/v1/audit')).body['items'] as Record<string, unknown>[];

/** The caller as the service behind the gateway sees it. */
async function callerAt(replica: Replica, key: string) {
  await exchange(`${replica.url}/v1/vision/usage`, 'GET', { headers: bearer(key) });
  const [token = ''] = valuesOf(gateway.upstream.last().rawHeaders, 'authorization');
  return verifyTestToken('quota', token.slice(7));
}

test('limits start from the defaults, change one by one, and return to the default with null', async () => {
  const { key, subject } = await gateway.newKey();
  const path = `/admin/v1/subjects/${subject}/limits`;
  expect((await gateway.admin('GET', path)).body).toEqual(defaultLimits);
  const changed = await gateway.admin('PUT', path, { images_per_day: 1000, requests_per_second: 0.5 });
  expect(changed.body).toEqual({ ...defaultLimits, images_per_day: 1000, requests_per_second: 0.5 });
  await gateway.admin('PUT', path, { burst: 9 });
  const reset = await gateway.admin('PUT', path, { images_per_day: null });
  expect(reset.body).toEqual({ ...defaultLimits, requests_per_second: 0.5, burst: 9 });
  expect((await gateway.admin('GET', path)).body).toEqual(reset.body);
  expect((await callerAt(gateway, key)).limits).toEqual(reset.body);
});

test('maintenance reaches the services through every replica and survives restarts', async () => {
  const other = await gateway.addReplica();
  const { key } = await gateway.newKey();
  const on = await gateway.admin('PUT', '/admin/v1/maintenance', { enabled: true, reason: 'new disks' });
  expect(on.body).toEqual({ enabled: true, reason: 'new disks' });
  expect((await callerAt(gateway, key)).maintenance).toEqual({ reason: 'new disks' });
  await until(async () => (await callerAt(other, key)).maintenance !== undefined);
  const restarted = await gateway.addReplica();
  expect((await callerAt(restarted, key)).maintenance).toEqual({ reason: 'new disks' });
  expect((await gateway.admin('PUT', '/admin/v1/maintenance', { enabled: false })).body['enabled']).toBe(false);
  expect((await gateway.admin('GET', '/admin/v1/maintenance')).body).toEqual({ enabled: false, reason: '' });
  await until(async () => (await callerAt(other, key)).maintenance === undefined);
});

test('usage of a subject is asked for with its limits', async () => {
  const usage = { limit: 7, used: 2, remaining: 5, resets_at: '2026-01-01T16:00:00.000Z' };
  gateway.upstream.answer = answerWith(200, { video: usage, image: usage });
  const { subject } = await gateway.newKey({ video_tasks_per_day: 7 });
  const answer = await gateway.admin('GET', `/admin/v1/subjects/${subject}/usage`);
  expect(answer.body).toEqual({ video: usage, image: usage });
  expect(gateway.upstream.last().url).toBe('/internal/v1/usage?video_limit=7&image_limit=100');
});

const waiting = {
  task_id: randomUUID(),
  subject: 's',
  kind: 'stream',
  request_id: randomUUID(),
  scene_code: 'ship',
  status: 'resolving',
  version: 3,
  attempt: 1,
  lower_bound: 0.3,
  default_min_score: 0.8,
  reservation_id: 'r/1',
  job_seen: false,
  age_s: 12,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  result_expires_at: '2026-04-01T00:00:00.000Z',
};

test('tasks of all subjects are asked for with every filter', async () => {
  gateway.upstream.answer = answerWith(200, { items: [waiting], next_cursor: waiting.task_id });
  const filter = 'status=running&subject=acme&kind=stream&older_than_s=60&order=newest&limit=7';
  const listed = await gateway.admin('GET', `/admin/v1/tasks?${filter}`);
  expect(listed.body).toEqual({ items: [waiting], next_cursor: waiting.task_id });
  const [path, query] = gateway.upstream.last().url.split('?');
  expect([path, query?.split('&').toSorted()]).toEqual(['/internal/v1/tasks', filter.split('&').toSorted()]);
  expect((await gateway.admin('GET', '/admin/v1/tasks?state=running')).status).toBe(400);
});

test('the status has this gateway, every address of each service, and the backend as tasks tells it', async () => {
  const told = { service: 'x', instance: 'x/1', dependencies: [], breakers: [], lag: [] };
  const backend = { service: 'inference', address: '10.0.0.7', fault: 'it answered 500' };
  gateway.upstream.answer = (req, res) =>
    answerWith(200, req.url === '/internal/v1/backend-status' ? { items: [backend] } : told)(req, res);
  const { body } = await gateway.admin('GET', '/admin/v1/status');
  const own = body['gateway'] as { dependencies: { name: string; fault?: string }[] };
  expect(own.dependencies.map(({ name, fault }) => [name, fault])).toEqual([
    ['database', undefined],
    ['redis', undefined],
  ]);
  const replicas = body['replicas'] as { service: string; address: string; status?: object; fault?: string }[];
  expect(replicas.map(({ service }) => service)).toEqual([
    'images',
    'inference',
    'notify',
    'quota',
    'results',
    'tasks',
  ]);
  expect(replicas).toContainEqual({ service: 'quota', address: '127.0.0.1', status: told });
  expect(replicas).toContainEqual(backend);
  gateway.upstream.answer = (_req, res) => res.destroy();
  const silent = (await gateway.admin('GET', '/admin/v1/status')).body['replicas'] as typeof replicas;
  expect(silent.every(({ fault }) => fault !== undefined)).toBe(true);
});

test('a stop of an operator is passed on with his name, and noted with its reason', async () => {
  const stopped = { ...waiting, status: 'stopped' };
  gateway.upstream.answer = answerWith(200, stopped);
  const path = `/admin/v1/tasks/${waiting.task_id}/stop`;
  const done = await gateway.admin('POST', path, { reason: 'not theirs' }, { 'x-operator': 'zoe@ops' });
  expect([done.status, done.body]).toEqual([200, stopped]);
  expect(JSON.parse(gateway.upstream.last().body)).toEqual({ who: 'zoe@ops' });
  const noted = { actor: 'zoe@ops', action: 'task.stop', target: waiting.task_id, details: { reason: 'not theirs' } };
  expect((await audit())[0]).toMatchObject({ ...noted, result: 'done' });
});

test('a task is shown from every service and from the audit log in one line of time', async () => {
  const id = randomUUID();
  gateway.upstream.answer = answerWith(200, waiting);
  await gateway.admin('POST', `/admin/v1/tasks/${id}/stop`, { reason: 'not theirs' });
  const happened = (at: string) => ({ facts: { at }, happenings: [{ at, what: 'something', details: {} }] });
  const told = [happened('2026-01-01T00:00:02.000Z'), happened('2026-01-01T00:00:01.000Z')];
  const unknown = { type: 'x', title: 'x', status: 404, detail: 'x', instance: 'x', trace_id: '', retryable: false };
  gateway.upstream.answer = (req, res) => {
    const next = told.pop();
    if (next) answerWith(200, next)(req, res);
    else answerWith(404, { ...unknown, details: { reason: 'task_not_found' } })(req, res);
  };
  const { body } = await gateway.admin('GET', `/admin/v1/tasks/${id}`);
  const timeline = body['timeline'] as { at: string; what: string }[];
  expect(timeline.map(({ what }) => what)).toEqual(['something', 'something', 'operator: task.stop']);
  expect(timeline.map(({ at }) => at)).toEqual(timeline.map(({ at }) => at).toSorted());
  expect(Object.keys(body['facts'] as object)).toHaveLength(2);
  gateway.upstream.answer = answerWith(404, { ...unknown, details: { reason: 'task_not_found' } });
  expect(refusal(await gateway.admin('GET', `/admin/v1/tasks/${randomUUID()}`))).toEqual([
    404,
    undefined,
    'task_not_found',
  ]);
  gateway.upstream.answer = (_req, res) => res.destroy();
  const { body: silent } = await gateway.admin('GET', `/admin/v1/tasks/${randomUUID()}`);
  expect(silent['unreachable']).toEqual(['tasks', 'images', 'results', 'quota']);
});

test('a verification is passed on with who and why, and noted with its outcome', async () => {
  const id = randomUUID();
  const verified = { ...waiting, task_id: id, status: 'running' };
  gateway.upstream.answer = answerWith(200, verified);
  const body = { outcome: 'created', note: 'seen in its log' };
  const done = await gateway.admin('POST', `/admin/v1/tasks/${id}/verification`, body, { 'x-operator': 'zoe@ops' });
  expect([done.status, done.body]).toEqual([200, verified]);
  expect(gateway.upstream.last().url).toBe(`/internal/v1/tasks/${id}/verification`);
  expect(JSON.parse(gateway.upstream.last().body)).toEqual({ ...body, who: 'zoe@ops' });
  gateway.upstream.answer = answerWith(409, {
    type: 'x',
    title: 'Conflict',
    status: 409,
    detail: 'It was verified as created.',
    instance: 'x',
    details: { reason: 'verified_otherwise' },
    trace_id: '',
    retryable: false,
  });
  const contradicted = await gateway.admin('POST', `/admin/v1/tasks/${id}/verification`, { outcome: 'not_created' });
  expect(refusal(contradicted)).toEqual([409, undefined, 'verified_otherwise']);
  const [second, first] = await audit();
  expect(first).toMatchObject({ actor: 'zoe@ops', action: 'task.verify', target: id, details: body, result: 'done' });
  expect(second).toMatchObject({ actor: 'admin', target: id, result: 'refused: verified_otherwise' });
});

test('waiting tasks are listed as the tasks service shows them', async () => {
  gateway.upstream.answer = answerWith(200, { items: [{ ...waiting, of_a_later_version: true }] });
  const answer = await gateway.admin('GET', '/admin/v1/tasks?status=resolving');
  expect(answer.body).toEqual({ items: [waiting], next_cursor: '' });
  expect(gateway.upstream.last().url).toBe('/internal/v1/tasks?status=resolving&order=oldest&limit=1000');
});

test('dead letters are asked for where they are kept, and a replay is noted', async () => {
  const letter = {
    topic: 'frames',
    partition: 0,
    offset: 17,
    reason: 'invalid_data',
    headers: { ce_id: 'e' },
    payload: '{}',
    payload_bytes: 2,
    is_cut: false,
  };
  const { headers: _headers, payload: _payload, payload_bytes: _bytes, is_cut: _isCut, ...summary } = letter;
  const path = '/admin/v1/dead-letters/frames';
  gateway.upstream.answer = answerWith(200, { items: [letter] });
  expect((await gateway.admin('GET', `${path}?limit=3`)).body).toEqual({ items: [summary] });
  expect(gateway.upstream.last().url).toBe('/internal/v1/dead-letters/frames?limit=3');
  expect(valuesOf(gateway.upstream.last().rawHeaders, 'authorization')).toHaveLength(1);
  gateway.upstream.answer = answerWith(200, letter);
  expect((await gateway.admin('GET', `${path}/records/a%2Fb`)).body).toEqual(letter);
  expect(gateway.upstream.last().url).toBe('/internal/v1/dead-letters/frames/records/a%2Fb');
  gateway.upstream.answer = answerWith(200, { replayed: 2, is_done: true });
  const done = await gateway.admin('POST', `${path}/replay`, { limit: 5 }, { 'x-operator': 'zoe@ops' });
  expect(done.body).toEqual({ replayed: 2, is_done: true });
  const [token = ''] = valuesOf(gateway.upstream.last().rawHeaders, 'authorization');
  await expect(verifyTestToken('results', token.slice(7))).resolves.toMatchObject({ issuer: 'gateway' });
  const noted = { actor: 'zoe@ops', action: 'dead_letters.replay', target: 'frames', details: { limit: 5 } };
  expect((await audit())[0]).toMatchObject({ ...noted, result: 'done' });
  expect((await gateway.admin('GET', '/admin/v1/dead-letters/nothing')).status).toBe(404);
});

test('retention runs in every service that keeps something', async () => {
  gateway.upstream.answer = answerWith(200, { removed: 3 });
  const answer = await gateway.admin('POST', '/admin/v1/retention/run');
  const removed = { removed: 3 };
  expect(answer.body).toEqual({ tasks: removed, images: removed, results: removed, quota: removed, notify: removed });
  expect(gateway.upstream.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(
    Array.from({ length: 5 }, () => 'POST /internal/v1/retention/run'),
  );
});

test('a decision about the bucket is passed on to the service, and stands in the audit log with its reason', async () => {
  gateway.upstream.answer = answerWith(200, { decision: 'resume' });
  const body = { service: 'images', decision: 'resume', reason: 'restored to 08:00' };
  const answer = await gateway.admin('POST', '/admin/v1/bucket/decisions', body, { 'x-operator': 'zoe@ops' });
  expect(answer.body).toEqual({ service: 'images', decision: 'resume' });
  expect(gateway.upstream.last().url).toBe('/internal/v1/bucket/decisions');
  const noted = { actor: 'zoe@ops', action: 'bucket.resume', target: 'images', details: { reason: body.reason } };
  expect((await audit())[0]).toMatchObject({ ...noted, result: 'done' });
  const bare = { service: 'images', decision: 'resume' };
  expect((await gateway.admin('POST', '/admin/v1/bucket/decisions', bare)).status).toBe(400);
});

test('differences are those of every service, and a service that does not tell is named', async () => {
  const found = { kind: 'quota_counter', id: '2026-03-15/video/acme', since: new Date().toISOString(), details: {} };
  gateway.upstream.answer = answerWith(200, { items: [found] });
  const all = await gateway.admin('GET', '/admin/v1/differences');
  expect(all.body).toEqual({
    items: ['tasks', 'images', 'results', 'quota'].map((service) => ({ service, ...found })),
    unreachable: [],
  });
  gateway.upstream.answer = (req) => req.socket.destroy();
  const none = await gateway.admin('GET', '/admin/v1/differences');
  expect(none.body).toEqual({ items: [], unreachable: ['tasks', 'images', 'results', 'quota'] });
});

test('the repair of a counter is passed on with who and why, and stands in the audit log', async () => {
  const counter = { subject: 'acme', kind: 'video', day: '2026-03-15' };
  gateway.upstream.answer = answerWith(200, { ...counter, used_before: 4, used_after: 3 });
  const body = { ...counter, reason: 'found by the audit' };
  const answer = await gateway.admin('POST', '/admin/v1/quota/repair', body, { 'x-operator': 'zoe@ops' });
  expect(answer.body).toEqual({ ...counter, used_before: 4, used_after: 3 });
  expect(gateway.upstream.last().url).toBe('/internal/v1/counters/repair');
  expect((await audit())[0]).toMatchObject({
    actor: 'zoe@ops',
    action: 'quota.repair',
    target: 'acme',
    details: { kind: 'video', day: '2026-03-15', reason: 'found by the audit' },
    result: 'done',
  });
  expect((await gateway.admin('POST', '/admin/v1/quota/repair', counter)).status).toBe(400);
});

test('a service that is unavailable or talks nonsense is 503, also for an operator', async () => {
  gateway.upstream.answer = answerWith(200, { nonsense: true });
  const odd = await gateway.admin('POST', '/admin/v1/quota/verify');
  expect(refusal(odd)).toEqual([503, 'OP-SYS-UNAVAILABLE', 'quota_unavailable']);
  gateway.upstream.answer = (req) => req.socket.destroy();
  const away = await gateway.admin('POST', '/admin/v1/retention/run');
  expect([away.status, away.body['code']]).toEqual([503, 'OP-SYS-UNAVAILABLE']);
  expect((await audit())[0]).toMatchObject({ action: 'retention.run', result: expect.stringMatching(/^refused: /) });
});

test.each([
  ['POST', '/admin/v1/keys', {}, 'name'],
  ['POST', '/admin/v1/keys', { name: '' }, 'name'],
  ['POST', '/admin/v1/keys', { name: 'a\nb' }, 'name'],
  ['POST', '/admin/v1/keys', { name: 'x'.repeat(101) }, 'name'],
  ['POST', '/admin/v1/keys', { name: 'x', subject: 'a b' }, 'subject'],
  ['POST', '/admin/v1/keys', { name: 'x', role: 'root' }, 'role'],
  ['POST', '/admin/v1/keys', [], undefined],
  ['POST', '/admin/v1/keys/0123456789abcdef/rotate', { overlap_s: -1 }, 'overlap_s'],
  ['POST', '/admin/v1/keys/0123456789abcdef/rotate', { overlap_s: 1e9 }, 'overlap_s'],
  ['PUT', '/admin/v1/subjects/a/limits', { burst: '1' }, 'burst'],
  ['PUT', '/admin/v1/subjects/a/limits', { images_per_day: -1 }, 'images_per_day'],
  ['PUT', '/admin/v1/subjects/a/limits', { burst: 1.5 }, 'burst'],
  ['PUT', '/admin/v1/subjects/a/limits', { requests_per_second: 0 }, 'requests_per_second'],
  ['PUT', '/admin/v1/subjects/a/limits', { speed: 1 }, 'speed'],
  ['PUT', '/admin/v1/maintenance', { enabled: 'yes' }, 'enabled'],
  ['PUT', '/admin/v1/maintenance', { reason: 'x' }, 'enabled'],
  ['POST', `/admin/v1/tasks/${randomUUID()}/verification`, { outcome: 'maybe', note: '' }, 'outcome'],
  ['GET', '/admin/v1/tasks?status=lost', undefined, 'status'],
  ['GET', '/admin/v1/tasks?older_than_s=long', undefined, 'older_than_s'],
  ['GET', '/admin/v1/jobs?limit=101', undefined, 'limit'],
  ['GET', '/admin/v1/keys?id_prefix=%25', undefined, 'id_prefix'],
  ['GET', '/admin/v1/audit?limit=0', undefined, 'limit'],
  ['GET', '/admin/v1/keys?subject=a%20b', undefined, 'subject'],
  ['POST', '/admin/v1/keys', { name: '\ud800' }, 'name'],
  ['POST', '/admin/v1/keys', { name: 'a\udc00b' }, 'name'],
  ['PUT', '/admin/v1/maintenance', { enabled: true, reason: '\ud83d' }, 'reason'],
  ['POST', `/admin/v1/tasks/${randomUUID()}/verification`, { outcome: 'created', note: '\udfff' }, 'note'],
])('%s %s with %j is refused, naming the field', async (method, path, body, field) => {
  const answer = await gateway.admin(method, path, body);
  expect([answer.status, answer.body['code']]).toEqual([400, 'OP-TASK-REQUEST-INVALID']);
  expect((answer.body['details'] as { field?: string }).field).toBe(field);
});

test('a name may hold any character that people write', async () => {
  const made = await gateway.admin('POST', '/admin/v1/keys', { name: 'yard \u{1f600} 庭' });
  expect([made.status, made.body['name']]).toEqual([201, 'yard \u{1f600} 庭']);
});

test('what names nothing is 404, a wrong method 405, and an unreadable body 400', async () => {
  expect((await gateway.admin('POST', '/admin/v1/tasks/7/verification', { outcome: 'created' })).status).toBe(404);
  expect((await gateway.admin('GET', '/admin/v1/subjects/%20/limits')).status).toBe(404);
  expect((await gateway.admin('PATCH', '/admin/v1/maintenance', {})).status).toBe(405);
  expect((await gateway.admin('GET', '/admin/v2')).status).toBe(404);
  const headers = { ...bearer(gateway.env['ADMIN_TOKEN'] ?? ''), 'content-type': 'application/json' };
  for (const body of ['', '{', '{"enabled":NaN}', '\u{feff}{}']) {
    const answer = await exchange(`${gateway.adminUrl}/admin/v1/maintenance`, 'PUT', { headers, body });
    expect([answer.status, answer.body['code']]).toEqual([400, 'OP-TASK-REQUEST-INVALID']);
  }
});

test('every act is in the audit log with who did it, and a failed one leaves nothing behind', async () => {
  const operator = { 'x-operator': 'ida' };
  const made = await gateway.admin('POST', '/admin/v1/keys', { name: 'audited' }, operator);
  const keyId = String(made.body['key_id']);
  await gateway.admin('POST', `/admin/v1/keys/${keyId}/rotate`, { overlap_s: 60 }, operator);
  await gateway.admin('DELETE', `/admin/v1/keys/${keyId}`, undefined, operator);
  await gateway.admin('PUT', `/admin/v1/subjects/${String(made.body['subject'])}/limits`, { burst: 5 }, operator);
  await gateway.admin('PUT', '/admin/v1/maintenance', { enabled: false }, operator);
  const before = await audit();
  expect(before.slice(0, 5).map(({ actor, action }) => [actor, action])).toEqual([
    ['ida', 'maintenance.set'],
    ['ida', 'limits.set'],
    ['ida', 'key.revoke'],
    ['ida', 'key.rotate'],
    ['ida', 'key.create'],
  ]);
  expect((await gateway.admin('POST', '/admin/v1/keys', { name: 'x' }, { 'x-operator': 'a b' })).status).toBe(400);
  await gateway.admin('POST', `/admin/v1/keys/${keyId}/rotate`, { overlap_s: 60 }, operator);
  expect(await audit()).toEqual(before);
  const page = await gateway.admin('GET', `/admin/v1/audit?limit=2&before=${String(before[0]?.['id'])}`);
  expect(page.body['items']).toEqual(before.slice(1, 3));
});
