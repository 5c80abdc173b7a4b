import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { startUnreachable } from '@vision/shared/testing/full-queue';
import { until } from '@vision/shared/testing/until';
import { deadlineHeader } from '@vision/shared/upstream/deadline';
import { MAX_QUESTION_MS } from '../src/use-cases/create/answer-time.ts';
import { createWorld, patientSettings, startTasks, storedTasks } from './support/system.ts';
import type { Answer, TestTasks, World } from './support/system.ts';
import { upload } from './support/videos.ts';

let world: World;
let alive: TestTasks;
const open: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  world = await createWorld({ BREAKER_RESET_MS: '600000' });
  alive = await startTasks(world);
});
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});
afterAll(async () => {
  await alive.stop();
  await world.close();
});

const limits = { video_tasks_per_day: 1000, active_tasks: 1000 };

async function startWith(
  url: string,
  env: Record<string, string> = {},
  changed: typeof patientSettings = {},
): Promise<TestTasks> {
  const tasks = await startTasks(world, { INFERENCE_URL: url, SUBMIT_TIMEOUT_MS: '1500', ...env }, changed);
  open.push(tasks.stop);
  return tasks;
}

interface Question {
  asked: string;
  /** Deadline that the client sent. */
  deadlineMs: number;
}

/** Reads and records every request, and leaves the answer to `answer`. */
async function startBackend(answer: (asked: string, res: ServerResponse) => void) {
  const questions: Question[] = [];
  const server = createServer((req: IncomingMessage, res) => {
    req.resume();
    const asked = `${req.method ?? ''} ${req.url ?? ''}`;
    // Query of the reconciler.
    if (req.url?.startsWith('/v1/jobs?')) res.end('{"jobs":[]}');
    else {
      questions.push({ asked, deadlineMs: Number(req.headers[deadlineHeader]) });
      answer(asked, res);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, questions };
}
const silent = () => undefined;
const json = (res: ServerResponse, status: number, body: unknown) =>
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const capacityOf = (free: number) => ({ free: { stream: free, object: free }, places: { stream: 5, object: 5 } });

const creates = {
  stream: (tasks: TestTasks, subject: string, key: string) => tasks.create({ subject, key, limits }),
  upload: (tasks: TestTasks, subject: string, key: string) => upload({ port: tasks.port, subject, key, limits }),
};
const cases = (['stream', 'upload'] as const).flatMap((kind) =>
  (['refuses connections', 'accepts no connection', 'answers no request'] as const).map(
    (fault) => [kind, fault] as const,
  ),
);

async function startDead(fault: (typeof cases)[number][1]): Promise<string> {
  if (fault === 'refuses connections') return 'http://127.0.0.1:1';
  if (fault === 'answers no request') return (await startBackend(silent)).url;
  const unreachable = await startUnreachable();
  open.push(unreachable.close);
  return unreachable.url;
}

/** A refusal waits some seconds for the rollback; a slower rollback ends after it. */
async function expectNothingLeft(subject: string): Promise<void> {
  await until(async () => (await world.quota.used(subject)) === 0);
  await until(async () => (await storedTasks(world, { subject })).length === 0);
  await until(async () => (await world.database.db('place_claims').where({ subject })).length === 0);
}
const eventsOf = (subject: string) => world.database.db('outbox').whereRaw('outbox::text like ?', [`%${subject}%`]);
const refusal = ({ status, body }: Answer) => [status, body.code, body.details?.['reason']];
const unreachable = [503, 'OP-TASK-UPSTREAM-DOWN', 'inference_unreachable'];

test.each(cases)('a create request (%s) at a backend that %s is refused, and its key is free', async (kind, fault) => {
  const tasks = await startWith(await startDead(fault));
  const [subject, key] = [randomUUID(), randomUUID()];
  expect(refusal(await creates[kind](tasks, subject, key))).toEqual(unreachable);
  await expectNothingLeft(subject);
  // A silent backend is awaited only once: the create request ends before a task is committed and published.
  if (fault !== 'refuses connections') expect(await eventsOf(subject)).toEqual([]);
  const repeated = await creates[kind](alive, subject, key);
  expect([repeated.status, repeated.headers.get('idempotency-replayed')]).toEqual([201, null]);
});

test('a create request does not submit to a backend that did not answer the capacity query', async () => {
  const backend = await startBackend(silent);
  const tasks = await startWith(backend.url);
  expect(refusal(await tasks.create({ subject: randomUUID(), limits }))).toEqual(unreachable);
  expect(backend.questions.map(({ asked }) => asked)).toEqual(['GET /v1/capacity']);
  expect(backend.questions[0]?.deadlineMs).toBeLessThanOrEqual(500);
});

test('the submission gets the rest of SUBMIT_TIMEOUT_MS after the capacity query', async () => {
  let heldMs = 0;
  const backend = await startBackend((asked, res) => {
    if (asked !== 'GET /v1/capacity') return;
    const from = performance.now();
    setTimeout(() => {
      json(res, 200, capacityOf(5));
      heldMs = performance.now() - from;
    }, 300);
  });
  const tasks = await startWith(backend.url, { SUBMIT_TIMEOUT_MS: '6000' }, patientSettings);
  const subject = randomUUID();
  const created = await tasks.create({ subject, limits });
  // The backend may have the job, unlike after an unanswered query.
  expect([created.status, created.body.status]).toEqual([202, 'resolving']);
  const [, submission] = backend.questions;
  expect(submission?.asked).toBe('POST /v1/jobs');
  expect(heldMs).toBeGreaterThanOrEqual(299);
  expect(submission?.deadlineMs).toBeLessThanOrEqual(Math.ceil(6000 - Math.min(heldMs, MAX_QUESTION_MS)));
  expect(submission?.deadlineMs).toBeGreaterThanOrEqual(2000);
});

test('create requests that wait for a slot are refused as soon as the backend falls silent', async () => {
  let isSilent = false;
  const backend = await startBackend((asked, res) => {
    if (!isSilent && asked === 'GET /v1/capacity') json(res, 200, capacityOf(0));
  });
  // The wait limit is longer than this test.
  const tasks = await startWith(backend.url, { PLACE_WAIT_MS: '300000' });
  const subject = randomUUID();
  const waits = tasks.create({ subject, limits });
  await until(async () => (await world.database.db('place_claims').where({ subject })).length === 1);
  isSilent = true;
  expect(refusal(await waits)).toEqual(unreachable);
  await expectNothingLeft(subject);
  expect(backend.questions.map(({ asked }) => asked)).not.toContain('POST /v1/jobs');
});

test('create requests that fail at a silent backend open the breaker', async () => {
  const backend = await startBackend(silent);
  const tasks = await startWith(backend.url, { SUBMIT_TIMEOUT_MS: '300' });
  const codes: unknown[] = [];
  for (let index = 0; index < 11; index += 1) {
    codes.push((await tasks.create({ subject: randomUUID(), limits })).body.code);
  }
  expect(codes.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 'OP-TASK-UPSTREAM-DOWN'));
  expect(codes[10]).toBe('OP-TASK-BREAKER-OPEN');
});
