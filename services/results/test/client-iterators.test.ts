import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createVisionClient } from '@vision/client';
import type { ClientOptions, VisionClient } from '@vision/client';
import { topics } from '@vision/contracts/topics';
import { testKafka } from '@vision/kafka/testing/kafka';
import type { TestKafka } from '@vision/kafka/testing/kafka';
import { freePort } from '@vision/shared/testing/ports';
import { startReplaceable } from '@vision/shared/testing/service-process';
import type { ReplaceableProcess } from '@vision/shared/testing/service-process';
import { until } from '@vision/shared/testing/until';
import { testPublicKeys, testServiceKey, testToken } from '@vision/shared/testing/service-keys';
import { frame, framesOf, mark, newTaskId, object, settingsOfStore, snapshot, startResults, upTo } from './support.ts';
import type { TestResults } from './support.ts';

/** Stores the frames. Another process answers, with topics of its own, and is killed. */
let results: TestResults;
let kafka: TestKafka;
let env: Record<string, string>;
let replica: ReplaceableProcess;
let client: VisionClient;

beforeAll(async () => {
  results = await startResults();
  kafka = await testKafka({ topics: Object.values(topics) });
  env = {
    ...settingsOfStore(results.s3),
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    HEALTH_PORT: String(await freePort()),
    DATABASE_URL: results.database.url,
    KAFKA_BROKERS: results.kafka.brokers.join(','),
    TOPIC_PREFIX: kafka.topicPrefix,
    SERVICE_KEY: testServiceKey('results'),
    SERVICE_PUBLIC_KEYS: testPublicKeys,
    CURSOR_KEYS: 'cursor-key-cursor-key-cursor-key-cursor',
    TASKS_URL: results.tasks.url,
    IMAGES_URL: results.images.url,
  };
  replica = await startReplaceable('results', env);
});
beforeEach(async () => {
  client = await newClient();
});
afterAll(async () => {
  await replica.stop();
  await results.stop();
  await kafka.close();
});

/** A token is valid for some minutes, so each test has its own. The next process may take long to start. */
async function newClient(changes: Partial<ClientOptions> = {}): Promise<VisionClient> {
  return createVisionClient({
    baseUrl: `http://127.0.0.1:${env['PORT'] ?? ''}`,
    apiKey: await testToken('gateway', 'results', { subject: 'subject-a' }),
    maxRetryMs: 180_000,
    ...changes,
  });
}

async function newTask(frames: number): Promise<string> {
  const taskId = newTaskId();
  await results.tell(snapshot(taskId, 'subject-a'));
  await results.deliver(framesOf(taskId, 0, frames));
  return taskId;
}

async function end(taskId: string, frames: number): Promise<void> {
  const over = { version: 2, status: 'succeeded' as const, ended_at: new Date().toISOString() };
  await results.tell(snapshot(taskId, 'subject-a', { ...over, frames_published: frames }));
  await results.deliver([mark(taskId, { frames_published: frames })]);
}

const seqOf = ({ frame_id }: { frame_id: string }) => Number(frame_id.slice(37));

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'a reader whose replica ends by %s has every frame once, late ones and those of the time between included',
  async (signal) => {
    const taskId = newTaskId();
    await results.tell(snapshot(taskId, 'subject-a'));
    await results.deliver(framesOf(taskId, 0, 150).filter((_one, seq) => seq !== 40));
    const seqs: number[] = [];
    for await (const one of client.frames(taskId, { min_score: 0 })) {
      seqs.push(seqOf(one));
      if (seqs.length === 60) {
        const replaced = replica.replace(signal);
        await results.deliver([...framesOf(taskId, 150, 30), frame(taskId, 40)]);
        await replaced;
        await end(taskId, 180);
      }
    }
    expect(seqs).toHaveLength(180);
    expect(seqs.toSorted((a, b) => a - b)).toEqual(upTo(180));
  },
);

test('pages take over the frames when streams are refused, over a kill as well', async () => {
  const taskId = await newTask(450);
  await end(taskId, 450);
  const withoutStreams = (request: Request) =>
    request.url.includes('/results/stream') && request.headers.get('last-event-id') !== null
      ? Promise.resolve(new Response(null, { status: 405 }))
      : fetch(request);
  const paging = await newClient({ fetch: withoutStreams });
  const first = paging.frames(taskId);
  const seqs: number[] = [];
  for await (const one of first) if (seqs.push(seqOf(one)) === 20) break;
  for await (const one of paging.frames(taskId, { cursor: first.cursor })) {
    if (seqs.push(seqOf(one)) === 100) await replica.replace('SIGKILL');
  }
  expect(seqs).toEqual(upTo(450));
});

test('another client continues from a stored cursor', async () => {
  const taskId = await newTask(50);
  await end(taskId, 50);
  const first = client.frames(taskId);
  const seqs: number[] = [];
  for await (const one of first) if (seqs.push(seqOf(one)) === 17) break;
  for await (const one of client.frames(taskId, { cursor: first.cursor })) seqs.push(seqOf(one));
  expect(seqs).toEqual(upTo(50));
});

test('tracks are followed to their last state over a kill', async () => {
  const taskId = newTaskId();
  await results.tell(snapshot(taskId, 'subject-a'));
  const passers = (from: number, count: number) =>
    framesOf(taskId, from, count).map((one) => ({
      ...one,
      objects: [{ ...object(0.9), track_id: `a1-${one.seq % 40}` }],
    }));
  await results.deliver(passers(0, 80));
  const states = new Map<string, { state: string; frames: number }>();
  let isReplaced = false;
  for await (const { track_id, state, frames } of client.tracks(taskId)) {
    states.set(track_id, { state, frames });
    if (isReplaced || states.size < 10) continue;
    isReplaced = true;
    const replaced = replica.replace('SIGKILL');
    await results.deliver(passers(80, 40));
    await replaced;
    await end(taskId, 120);
  }
  expect([states.size, new Set([...states.values()].map(({ state, frames }) => `${state} ${frames}`))]).toEqual([
    40,
    new Set(['ended 3']),
  ]);
});

test('a stream whose replica is killed again and again, pages, and a stream after a rollout give the same frames', async () => {
  const taskId = await newTask(100);
  const reader = await newClient();
  const streamed: unknown[] = [];
  let failure: unknown;
  const reading = (async () => {
    for await (const one of reader.frames(taskId, { min_score: 0 })) streamed.push(one);
  })().catch((error: unknown) => (failure = error));
  const kills = 2;
  for (let kill = 0; kill < kills; kill += 1) {
    const stored = 100 + 30 * kill;
    await until(() => failure !== undefined || streamed.length >= stored - 20);
    const replaced = replica.replace('SIGKILL');
    await results.deliver(framesOf(taskId, stored, 30));
    await replaced;
  }
  const count = 100 + 30 * kills;
  await end(taskId, count);
  await reading;
  expect(failure).toBeUndefined();
  const paged: unknown[] = [];
  for (let cursor = ''; ;) {
    const path = `/v1/vision/tasks/${taskId}/results?min_score=0&limit=7&cursor=${cursor}`;
    const page = (await (await results.get(path)).json()) as { items: unknown[]; next_cursor: string };
    paged.push(...page.items);
    cursor = page.next_cursor;
    if (cursor === '') break;
  }
  await replica.replace('SIGTERM');
  const afterwards: unknown[] = [];
  for await (const one of (await newClient()).frames(taskId, { min_score: 0 })) afterwards.push(one);
  expect(paged).toHaveLength(count);
  expect([streamed, afterwards]).toEqual([paged, paged]);
});
