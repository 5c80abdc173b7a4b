import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings } from '../src/config.ts';
import { runCommandLine } from '../src/run-command-line.ts';

interface Asked {
  line: string;
  body: unknown;
  authorization: string | undefined;
  operator: string | undefined;
}

const asked: Asked[] = [];
let answer: { status: number; body: unknown };
/** Of paths that answer otherwise. */
const others = new Map<string, typeof answer>();
const server = createServer((req, res) => {
  let text = '';
  req.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  req.on('end', () => {
    const { authorization } = req.headers;
    const operator = req.headers['x-operator'] as string | undefined;
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    asked.push({ line: `${req.method ?? ''} ${req.url ?? ''}`, body, authorization, operator });
    const given = others.get((req.url ?? '').split('?')[0] ?? '') ?? answer;
    res.writeHead(given.status, { 'content-type': 'application/json' }).end(JSON.stringify(given.body));
  });
});
let env: Record<string, string>;
const home = mkdtempSync(join(tmpdir(), 'visionctl-'));

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  env = { ADMIN_URL: url, ADMIN_TOKEN: 'secret-of-the-operator', VISION_OPERATOR: 'zoe', VISION_LOCAL_DIR: home };
});
afterAll(() => {
  server.close();
  rmSync(home, { recursive: true });
});
beforeEach(() => {
  asked.length = 0;
  others.clear();
});

/** A command line in this process. */
async function visionctl(args: string[], variables = env): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' };
  const code = await runCommandLine(args, readSettings(variables), {
    print: (text) => {
      said.out += `${text}\n`;
    },
    complain: (text) => {
      said.err += `${text}\n`;
    },
  });
  return { code, ...said };
}

const usage = { limit: 5, used: 1, remaining: 4, resets_at: '2026-01-01T16:00:00.000Z' };
const task = { task_id: 'a', status: 'running' };
const key = { key_id: '0123456789abcdef', subject: 's', name: 'n', created_at: 'x', key: 'vk_x' };
const job = { task_id: '01890000-0000-7000-8000-000000000000', subject: 's', status: 'running', age_s: 1 };
const off = { enabled: false, reason: '' };
const problem = { type: '', title: '', detail: 'It ended.', instance: '', trace_id: 't', retryable: false };
const refusalOf = (status: number, reason: string) => ({ status, body: { ...problem, status, details: { reason } } });
const id = '01890000-0000-7000-8000-000000000000';

test.each([
  [['keys', 'create', 'n', '--subject', 's'], 'POST /admin/v1/keys', { name: 'n', subject: 's' }, key],
  [['keys', 'list'], 'GET /admin/v1/keys', undefined, { items: [key] }],
  [['keys', 'list', '--subject', 'a b'], 'GET /admin/v1/keys?subject=a+b', undefined, { items: [] }],
  [['keys', 'revoke', 'abc'], 'DELETE /admin/v1/keys/abc', undefined, undefined],
  [['keys', 'rotate', 'abc', '--overlap', '5'], 'POST /admin/v1/keys/abc/rotate', { overlap_s: 5 }, key],
  [['limits', 'get', 's'], 'GET /admin/v1/subjects/s/limits', undefined, { burst: 1 }],
  [
    ['limits', 'set', 's', '--burst', '9', '--images-per-day', 'default'],
    'PUT /admin/v1/subjects/s/limits',
    { burst: 9, images_per_day: null },
    { burst: 9 },
  ],
  [['usage', 's/../t'], 'GET /admin/v1/subjects/s%2F..%2Ft/usage', undefined, { video: usage, image: usage }],
  [['maintenance', 'on', '--reason', 'r'], 'PUT /admin/v1/maintenance', { enabled: true, reason: 'r' }, off],
  [['maintenance', 'off'], 'PUT /admin/v1/maintenance', { enabled: false }, off],
  [['maintenance', 'status'], 'GET /admin/v1/maintenance', undefined, off],
  [
    ['keys', 'show', 'vk_0123456789abcdef_secret'],
    'GET /admin/v1/keys?id_prefix=0123456789abcdef',
    undefined,
    { items: [key] },
  ],
  [['key', 'show', '01AB'], 'GET /admin/v1/keys?id_prefix=01ab', undefined, { items: [key] }],
  [['tasks', 'resolving'], 'GET /admin/v1/tasks?status=resolving', undefined, { items: [task] }],
  [
    ['tasks', 'list', '--status', 'running', '--subject', 's', '--older-than', '60', '--limit', '7'],
    'GET /admin/v1/tasks?status=running&subject=s&older_than_s=60&order=newest&limit=7',
    undefined,
    { items: [task], next_cursor: '' },
  ],
  [
    ['task', 'stop', id, '--reason', 'r'],
    `POST /admin/v1/tasks/${id}/stop`,
    { reason: 'r' },
    { ...task, ended_at: 'x' },
  ],
  [
    ['task', 'show', id],
    `GET /admin/v1/tasks/${id}`,
    undefined,
    { task_id: id, facts: {}, timeline: [], unreachable: [] },
  ],
  [
    ['jobs', 'list', '--subject', 's'],
    'GET /admin/v1/jobs?subject=s&limit=100',
    undefined,
    { items: [job], next_cursor: '' },
  ],
  [
    ['tasks', 'verify', id, 'not_created', '--note', 'looked'],
    `POST /admin/v1/tasks/${id}/verification`,
    { outcome: 'not_created', note: 'looked' },
    task,
  ],
  [
    ['quota', 'repair', 's', 'video', '2026-01-01', '--reason', 'found by the audit'],
    'POST /admin/v1/quota/repair',
    { subject: 's', kind: 'video', day: '2026-01-01', reason: 'found by the audit' },
    { subject: 's', kind: 'video', day: '2026-01-01', used_before: 2, used_after: 1 },
  ],
  [['dlq', 'list', 'tasks'], 'GET /admin/v1/dead-letters/tasks', undefined, { items: [{ offset: 1 }] }],
  [
    ['dlq', 'list', 'vision.frames.v1', '--limit', '3'],
    'GET /admin/v1/dead-letters/frames?limit=3',
    undefined,
    { items: [] },
  ],
  [['retention', 'run'], 'POST /admin/v1/retention/run', undefined, { tasks: { removed: 1 } }],
])('visionctl %j asks %s', async (args, line, body, reply) => {
  answer = { status: 200, body: reply };
  const { code, out, err } = await visionctl([...args, '--json']);
  expect([code, err]).toEqual([0, '']);
  expect(asked).toEqual([{ line, body, authorization: 'Bearer secret-of-the-operator', operator: 'zoe' }]);
  if (reply !== undefined) expect(JSON.parse(out)).toEqual(reply);
  expect((await visionctl(args)).code).toBe(0);
});

test('audit shows what services found to differ, with exit code 1, and what operators did', async () => {
  answer = { status: 200, body: { items: [], unreachable: [] } };
  expect((await visionctl(['audit', '--limit', '3'])).code).toBe(0);
  expect(asked.map(({ line }) => line)).toEqual(['GET /admin/v1/audit?limit=3', 'GET /admin/v1/differences']);
  const found = { service: 'quota', kind: 'quota_counter', id: '2026-01-01/video/s', since: 'now', details: {} };
  answer = { status: 200, body: { items: [found], unreachable: ['results'] } };
  const { code, out } = await visionctl(['audit']);
  expect(code).toBe(1);
  expect(out).toContain('2026-01-01/video/s');
  expect(out).toContain('results did not answer');
});

test('audit shows differences also while the log of operators cannot be read, and says so with exit code 1', async () => {
  others.set('/admin/v1/audit', refusalOf(503, 'database_unavailable'));
  answer = { status: 200, body: { items: [], unreachable: [] } };
  const { code, out } = await visionctl(['audit']);
  expect(code).toBe(1);
  expect(out).toContain('0 differences');
  expect(out).toMatch(/log of operators cannot be read\. .*database_unavailable.* "visionctl doctor"/);

  others.set('/admin/v1/audit', refusalOf(401, 'admin_token_invalid'));
  expect(await visionctl(['audit'])).toMatchObject({ code: 1, out: '' });
});

test('a page that is not the last is followed until there are enough tasks, and its end is named', async () => {
  answer = { status: 200, body: { items: [task, task], next_cursor: id } };
  const { out } = await visionctl(['tasks', 'list', '--limit', '3']);
  expect(asked.map(({ line }) => line)).toEqual([
    'GET /admin/v1/tasks?order=newest&limit=3',
    `GET /admin/v1/tasks?order=newest&after=${id}&limit=1`,
  ]);
  expect(out).toContain(`There are more: --after ${id}`);
});

test('what is known of a task is shown by service and by time; a service that did not answer is exit code 1', async () => {
  const timeline = [{ at: '2026-03-15T08:30:00.000Z', source: 'quota', what: 'reserved', details: { units: 1 } }];
  const facts = { tasks: { status: 'running' } };
  answer = { status: 200, body: { task_id: id, facts, timeline, unreachable: ['results'] } };
  const { code, out } = await visionctl(['tasks', 'show', id]);
  expect(code).toBe(1);
  expect(out).toMatch(/tasks\n {2}status {2}running/);
  expect(out).toMatch(/2026-03-15T08:30:00.000Z {2}quota {3}reserved {2}\{"units":1\}/);
  expect(out).toContain('results did not answer');
});

const status = (service: string, more: object = {}) => ({
  service,
  instance: `${service}/1`,
  dependencies: [{ name: 'database', ms: 2 }],
  breakers: [{ name: 'inference.submit', state: 'closed' }],
  outbox: { waiting: 0, oldest_s: 0, publishes: true },
  lag: [0, 1].map((partition) => ({ group: service, topic: 'vision.images.v1', partition, lag: 3 })),
  ...more,
});
const system = (...replicas: object[]) => ({
  status: 200,
  body: { gateway: status('gateway', { outbox: undefined }), replicas },
});

test('doctor says of every dependency how it was reached, from here and through the services', async () => {
  answer = system({ service: 'tasks', address: '10.0.0.1', status: status('tasks') });
  const well = await visionctl(['doctor']);
  expect([well.code, well.err]).toEqual([0, '']);
  expect(well.out).toMatch(/here +ADMIN_URL 127\.0\.0\.1:\d+ +\d+ +ok/);
  expect(well.out).toMatch(/tasks 10\.0\.0\.1 +database +2 +ok/);
  expect(well.out).toContain('All is well.');
  const variables = { ...env, KAFKA_BROKERS: '127.0.0.1:1' };
  const away = await visionctl(['doctor'], variables);
  expect(away.code).toBe(1);
  expect(away.out).toMatch(/KAFKA_BROKERS 127\.0\.0\.1:1: ECONNREFUSED\n +start Kafka or correct KAFKA_BROKERS/);
});

test('doctor says what to do about each fault that a service tells, and is exit code 1', async () => {
  const dependencies = [
    { name: 'database', ms: 1, fault: 'migrations of this release are not applied' },
    { name: 'kafka', ms: 1, fault: 'there is no topic vision.tasks.v1' },
    { name: 'quota', ms: 1, fault: 'quota_unavailable: unexpected answer 401' },
    { name: 'results', ms: 3000, fault: 'results_unavailable: no reply within 3000 ms' },
  ];
  const poisoned = [{ loop: 'reconciler', tasks: 12, task_ids: Array.from(Array(12), (_, id) => `task-${id}`) }];
  const outbox = { waiting: 7, oldest_s: 90, publishes: true };
  const timeouts = [{ upstream: 'postgres', operation: 'select', timeouts: 6 }];
  const ill = { dependencies, breakers: [{ name: 'inference.submit', state: 'open' }], outbox, poisoned, timeouts };
  answer = system(
    { service: 'tasks', address: '10.0.0.1', status: status('tasks', ill) },
    { service: 'tasks', address: '10.0.0.2', fault: 'connect ECONNREFUSED 10.0.0.2:8080' },
    { service: 'images', address: '10.0.0.3', status: status('images', { outbox: { ...outbox, publishes: false } }) },
  );
  const { code, out } = await visionctl(['doctor']);
  for (const said of [
    /migrations of this release are not applied\n +run `main.ts migrate`/,
    /no topic vision.tasks.v1\n +visionctl topics apply/,
    /unexpected answer 401\n +let SERVICE_PUBLIC_KEYS of the called service/,
    /results: results_unavailable: no reply within 3000 ms\n +read the log of results, /,
    /breaker inference.submit: open\n/,
    /loop reconciler: a step fails for 12 tasks: task-0, .*task-9 and 2 more\n +search the log for the task_id, /,
    /outbox: 7 events wait, the oldest for 90 s\n/,
    /calls to postgres: 6 timed out in the last minute: select 6\n +see how many fail, /,
    /tasks 10.0.0.2: process: connect ECONNREFUSED 10.0.0.2:8080\n +read the log/,
    /images: outbox: no replica that was found publishes it\n/,
  ])
    expect(out).toMatch(said);
  const json = await visionctl(['doctor', '--json']);
  expect([code, json.code, JSON.parse(json.out)]).toEqual([1, 1, expect.objectContaining({ well: false })]);
});

test('doctor without an admin API still asks from here, and is exit code 3', async () => {
  const { code, out } = await visionctl(['doctor'], { ...env, ADMIN_URL: 'http://127.0.0.1:1' });
  expect(code).toBe(3);
  expect(out).toMatch(/admin API: .* gave no answer \(connect_failed\)\.\n +start the gateway/);
});

test('breakers are shown by replica, lag by topic or partition, the outbox by service', async () => {
  const half = status('tasks', { instance: 'b/1', breakers: [{ name: 'inference.submit', state: 'half-open' }] });
  answer = system(
    { service: 'tasks', address: '10.0.0.1', status: status('tasks') },
    { service: 'tasks', address: '10.0.0.2', status: half },
  );
  const breakers = await visionctl(['breakers']);
  expect(breakers.code).toBe(1);
  expect(breakers.out).toMatch(/10\.0\.0\.2 +b\/1 +inference\.submit +half-open/);
  expect((await visionctl(['lag'])).out).toMatch(/tasks +tasks +vision\.images\.v1 +2 +6/);
  expect((await visionctl(['lag', '--partitions'])).out).toMatch(/tasks +tasks +vision\.images\.v1 +1 +3/);
  expect((await visionctl(['outbox', 'status'])).out).toMatch(/tasks +0 +0 +b\/1/);
  answer = system({ service: 'quota', address: '10.0.0.9', fault: 'no reply' });
  const silent = await visionctl(['lag']);
  expect([silent.code, silent.out]).toEqual([1, expect.stringContaining('quota at 10.0.0.9 did not answer: no reply')]);
});

test('republishing counts first, and publishes page by page only when it is confirmed', async () => {
  const page = { events: 3, by_type: { t: 3 }, next_cursor: '' };
  answer = { status: 200, body: page };
  const range = ['--service', 'tasks', '--from', '2026-03-15T08:00:00Z', '--to', '2026-03-16T08:00:00Z'];
  const counted = await visionctl(['outbox', 'republish', ...range]);
  expect([counted.code, counted.out]).toEqual([0, expect.stringContaining('Nothing was published: add --yes')]);
  const [from, to] = ['2026-03-15T08:00:00.000Z', '2026-03-16T08:00:00.000Z'];
  expect(asked.map(({ body }) => body)).toEqual([{ service: 'tasks', from, to, dry_run: true }]);
  const done = await visionctl(['outbox', 'republish', ...range, '--yes']);
  expect([done.code, done.out]).toEqual([0, '3 events of tasks were published again.\n']);
  expect(asked.map(({ body }) => (body as { dry_run: boolean }).dry_run)).toEqual([true, true, false]);
});

test('a difference between counters and ledger is printed and ends with exit code 1', async () => {
  const difference = { subject: 's', kind: 'video', day: '2026-01-01', used: 2, ledger: 1 };
  answer = { status: 200, body: { counters: 4, reservations: 9, differences: [] } };
  expect(await visionctl(['quota', 'verify'])).toMatchObject({ code: 0 });
  answer = { status: 200, body: { counters: 4, reservations: 9, differences: [difference] } };
  const { code, out } = await visionctl(['quota', 'verify']);
  expect(code).toBe(1);
  expect(out).toContain('2026-01-01');
});

test('wrong command lines are exit code 2 and ask nothing', async () => {
  const lines = [
    ['keys'],
    ['keys', 'create'],
    ['keys', 'create', 'a', 'b'],
    ['keys', 'list', '--nope'],
    ['limits', 'set', 's'],
    ['limits', 'set', 's', '--burst', 'much'],
    ['tasks', 'verify', id, 'maybe', '--note', 'x'],
    ['tasks', 'verify', id, 'created'],
    ['dlq', 'list', 'nothing'],
    ['keys', 'show', 'vk_nonsense'],
    ['outbox', 'republish', '--service', 'tasks', '--from', 'yesterday'],
    ['tasks', 'list', '--status', 'lost'],
    ['tasks', 'list', '--older-than', 'long'],
    ['dlq', 'replay', 'nothing'],
  ];
  for (const line of lines) {
    const { code, err, out } = await visionctl(line);
    expect([line, code, out]).toEqual([line, 2, '']);
    expect([line, err]).toEqual([line, expect.stringMatching(/^(visionctl: |Usage: visionctl keys)/)]);
  }
  expect(asked).toEqual([]);
  expect((await visionctl(['maintenance', 'status'], { VISION_LOCAL_DIR: home })).err).toContain(
    'ADMIN_URL is not set',
  );
  const help = await visionctl(['help', 'keys', 'create']);
  expect([help.code, help.out]).toEqual([0, expect.stringContaining('Usage: visionctl keys create [options] <name>')]);
  expect((await visionctl(['tasks', 'verify', '--help'])).out).toContain('choices: "created", "not_created"');
  expect((await visionctl(['--version'])).out).toMatch(/^visionctl \d+\.\d+\.\d+(-dev)?\n$/);
  expect((await visionctl(['task', 'verifi'])).err).toContain('Did you mean verify?');
});

test('refusals are exit code 1 with the reason, silence is exit code 3, and the token is never shown', async () => {
  answer = refusalOf(409, 'key_ended');
  const refused = await visionctl(['keys', 'revoke', 'a']);
  expect([refused.code, refused.err]).toEqual([1, 'visionctl: It ended. (409, key_ended, trace t)\n']);
  answer = refusalOf(503, 'tasks_unavailable');
  expect(await visionctl(['dlq', 'list', 'tasks'])).toMatchObject({
    code: 1,
    err: 'visionctl: It could not be done now (503, tasks_unavailable, trace t). "visionctl doctor" says what is away.\n',
  });
  answer = { status: 200, body: 'what' };
  expect((await visionctl(['keys', 'list'])).code).toBe(1);
  const silent = await visionctl(['keys', 'list'], { ...env, ADMIN_URL: 'http://127.0.0.1:1' });
  expect(silent.code).toBe(3);
  expect(refused.err + silent.err).not.toContain('secret-of-the-operator');
});

test('the program prints, complains and ends with the code of its command', async () => {
  const program = join(import.meta.dirname, '../bin/visionctl');
  const run = (...args: string[]) =>
    new Promise((resolve) => {
      execFile(program, args, { env: { PATH: process.env['PATH'] ?? '', ...env } }, (error, out, err) => {
        resolve([error?.code ?? 0, out, err]);
      });
    });
  answer = { status: 200, body: off };
  expect(await run('maintenance', 'status')).toEqual([0, 'Maintenance is off.\n', '']);
  expect(await run('nothing')).toEqual([2, '', expect.stringContaining("unknown command 'nothing'")]);
});

test('addresses may come from the file of the local system', async () => {
  answer = { status: 200, body: off };
  writeFileSync(join(home, 'env'), `ADMIN_URL=${env['ADMIN_URL'] ?? ''}\nexport ADMIN_TOKEN=from-file\n`);
  expect((await visionctl(['maintenance', 'status'], { VISION_LOCAL_DIR: home })).code).toBe(0);
  expect(asked[0]?.authorization).toBe('Bearer from-file');
});
