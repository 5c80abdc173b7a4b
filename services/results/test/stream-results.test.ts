import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { atMost } from '@vision/shared/async/at-most';
import { testToken } from '@vision/shared/testing/service-keys';
import { until } from '@vision/shared/testing/until';
import { createTaskWatch } from '../src/use-cases/read/watch-tasks.ts';
import { frame, logger, mark, newTaskId, object, snapshot, startResults } from './support.ts';
import type { TestResults } from './support.ts';

let results: TestResults;
beforeAll(async () => {
  results = await startResults({});
  await Promise.all([results.service.consumers.frames.joined, results.service.consumers.tasks.joined]);
});
afterAll(() => results.stop());

interface Event {
  type: string;
  id: string;
  data: { frame_id: string; frame_time_ms: number; objects: unknown[]; objects_total?: number; status?: string };
}

class Stream {
  readonly events: Event[] = [];
  readonly answer: IncomingMessage;
  text = '';
  /** The complete response so far. */
  received = '';
  isEnded = false;

  constructor(answer: IncomingMessage) {
    this.answer = answer;
    answer.setEncoding('utf8');
    answer.on('data', (text: string) => this.#read(text));
    answer.on('end', () => (this.isEnded = true));
    answer.on('error', () => (this.isEnded = true));
  }

  get seqs(): number[] {
    return this.events.filter(({ type }) => type === 'frame').map(({ data }) => Number(data.frame_id.slice(37)));
  }

  get lastId(): string | undefined {
    return this.events.at(-1)?.id;
  }

  close(): void {
    this.answer.destroy();
  }

  #read(text: string): void {
    this.text += text;
    this.received += text;
    const blocks = this.text.split('\n\n');
    this.text = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line): [string, string] => [line.split(': ', 1)[0] ?? '', line]));
      const valueOf = (name: string) => fields.get(name)?.slice(name.length + 2) ?? '';
      if (!fields.has('data')) continue;
      this.events.push({
        type: valueOf('event'),
        id: valueOf('id'),
        data: JSON.parse(valueOf('data')) as Event['data'],
      });
    }
  }
}

async function open(taskId: string, query = '', headers: Record<string, string> = {}): Promise<Stream> {
  const authorization = `Bearer ${await testToken('gateway', 'results', { subject: 'subject-a' })}`;
  const url = `http://127.0.0.1:${results.service.port}/v1/vision/tasks/${taskId}/results/stream${query}`;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { agent: false, headers: { ...headers, authorization } }, resolve)
      .on('error', reject)
      .end();
  });
  return new Stream(answer);
}

async function newTask(frames: number): Promise<string> {
  const taskId = newTaskId();
  await results.tell(snapshot(taskId, 'subject-a'));
  if (frames > 0) await results.deliver(Array.from({ length: frames }, (_, seq) => frame(taskId, seq)));
  return taskId;
}

async function end(taskId: string, frames: number): Promise<void> {
  const over = { version: 2, status: 'succeeded' as const, ended_at: new Date().toISOString() };
  await results.tell(snapshot(taskId, 'subject-a', { ...over, frames_published: frames }));
  await results.deliver([mark(taskId, { frames_published: frames })]);
}

const seen = (stream: Stream, count: number) => until(() => Promise.resolve(stream.seqs.length >= count));
const over = (stream: Stream) => until(() => Promise.resolve(stream.isEnded));

test('frames are sent as they are stored, as they stand on pages, and the end with its status', async () => {
  const taskId = await newTask(2);
  const stream = await open(taskId, '?min_score=0.5');
  await seen(stream, 2);
  await results.deliver([frame(taskId, 2)]);
  await seen(stream, 3);
  await end(taskId, 3);
  await over(stream);
  const page = (await (await results.get(`/v1/vision/tasks/${taskId}/results?min_score=0.5`)).json()) as {
    items: unknown[];
  };
  expect(stream.events.slice(0, -1).map(({ data }) => data)).toEqual(page.items);
  expect(stream.events.at(-1)).toMatchObject({ type: 'end', data: { status: 'succeeded' } });
  expect(stream.answer.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  });
});

test('a client that received the end gets 204, one that did not receives it again', async () => {
  const taskId = await newTask(2);
  await end(taskId, 2);
  const stream = await open(taskId);
  await over(stream);
  const [, last, ending] = stream.events;
  const again = await open(taskId, '', { 'last-event-id': last?.id ?? '' });
  await over(again);
  expect(again.events).toEqual([ending]);
  const after = await open(taskId, `?cursor=${last?.id ?? ''}`, { 'last-event-id': ending?.id ?? '' });
  expect(after.answer.statusCode).toBe(204);
  after.close();
});

test('a client that reconnects with the last id it has handled misses and repeats nothing, late frames included', async () => {
  const taskId = await newTask(0);
  const handled: number[] = [];
  let lastId: string | undefined;
  const take = async (count: number) => {
    const stream = await open(taskId, '', lastId === undefined ? {} : { 'last-event-id': lastId });
    await seen(stream, count);
    // The client dies with events that it has received and not handled.
    for (const [at, { id }] of stream.events.slice(0, count).entries()) {
      handled.push(stream.seqs[at] ?? -1);
      lastId = id;
    }
    stream.close();
  };
  await results.deliver([0, 1, 4, 5, 9].map((seq) => frame(taskId, seq)));
  await take(3);
  await take(2);
  await results.deliver([8, 2, 7, 10, 3, 11].map((seq) => frame(taskId, seq)));
  await take(1);
  await take(2);
  await results.deliver([frame(taskId, 6)]);
  await take(1);
  await take(3);
  expect(handled.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
});

test('filters hold for frames and objects, and a busy stream that shows none is kept alive', async () => {
  const taskId = await newTask(0);
  const stream = await open(taskId, '?labels=car&skip_empty=true');
  await results.deliver([
    frame(taskId, 0, { objects: [object(0.9)] }),
    frame(taskId, 1),
    frame(taskId, 2, { objects: [] }),
    frame(taskId, 3),
  ]);
  await seen(stream, 2);
  expect(stream.seqs).toEqual([1, 3]);
  expect(stream.events.map(({ data }) => data.objects)).toEqual([[object(0.9, 'car')], [object(0.9, 'car')]]);
  stream.close();
});

test.each([
  ['limit=5', 400, 'unknown_field'],
  ['region=0,0,1', 400, 'region_invalid'],
  ['cursor=garbage', 400, 'cursor_invalid'],
])('%s is refused', async (query, status, reason) => {
  const answer = await results.get(`/v1/vision/tasks/${await newTask(0)}/results/stream?${query}`);
  expect([answer.status, await answer.json()]).toMatchObject([status, { details: { reason } }]);
});

test('a Last-Event-ID of another task is refused, and an unknown task is not found', async () => {
  const [one, other] = [await newTask(1), await newTask(1)];
  const stream = await open(one);
  await seen(stream, 1);
  const refused = await open(other, '', { 'last-event-id': stream.lastId ?? '' });
  const unknown = await open(newTaskId());
  expect([refused.answer.statusCode, unknown.answer.statusCode]).toEqual([400, 404]);
  for (const each of [stream, refused, unknown]) each.close();
});

test('a stream without frames has a comment within some ten seconds, whose id goes on behind what was sent', async () => {
  const taskId = await newTask(1);
  const stream = await open(taskId);
  await seen(stream, 1);
  const id = await until(() => /(?:^|\n):\nid: (\S+)\n/.exec(stream.received)?.[1], { timeoutMs: 30_000 });
  stream.close();
  await results.deliver([frame(taskId, 1)]);
  const again = await open(taskId, '', { 'last-event-id': id });
  await seen(again, 1);
  expect(again.seqs).toEqual([1]);
  again.close();
});

test('HEAD is answered at once', async () => {
  const answer = await results.call('HEAD', `/v1/vision/tasks/${await newTask(1)}/results/stream`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
});

test('all readers of a process share one statement, and none is sent while there are none', async () => {
  const { db } = results.database;
  const tasks = [await newTask(1), await newTask(1), await newTask(1)];
  const statements: string[] = [];
  const note = ({ sql }: { sql: string }) => statements.push(sql);
  db.on('query', note);
  const watch = createTaskWatch({ db, logger, endPatienceMs: 1000 });
  watch.start();
  // Only time can show absence: some intervals of the watch.
  await delay(500);
  expect(statements).toEqual([]);
  const followed = tasks.map((taskId) => watch.follow(taskId));
  await Promise.all(followed.map((one) => one.wait(60_000)));
  const positions = followed.map((one) => one.task()).map((task) => task !== 'gone' && task?.position);
  expect([positions, statements.length]).toEqual([[1, 1, 1], 1]);
  followed.forEach((one) => one.end());
  await watch.stop();
  db.off('query', note);
});

test('a reader that comes to a task while another follows it is shown what the watch knows at once', async () => {
  const taskId = await newTask(1);
  const watch = createTaskWatch({ db: results.database.db, logger, endPatienceMs: 1000 });
  watch.start();
  const first = watch.follow(taskId);
  await first.wait(60_000);
  // The second has read the task before its newest frame; the watch has read it after that, and woken the first.
  const second = watch.follow(taskId);
  expect(await atMost(1000, second.wait(60_000))).toBe(true);
  expect(second.task()).toMatchObject({ position: 1 });
  for (const one of [first, second]) one.end();
  await watch.stop();
});

test('a stream of a deleted task ends, and a stop ends streams at once', async () => {
  const [deleted, kept] = [await newTask(1), await newTask(1)];
  const streams = [await open(deleted), await open(kept)];
  await Promise.all(streams.map((stream) => seen(stream, 1)));
  await results.database.db('task_views').where({ task_id: deleted }).delete();
  await until(() => Promise.resolve(streams[0]?.isEnded === true));
  expect(streams[1]?.isEnded).toBe(false);
  const http = results.service.stopPhases.find(({ name }) => name === 'http');
  const startedAt = performance.now();
  await http?.stop();
  // A stream without a wake-up would end with its next comment, ten seconds after the last one.
  expect(performance.now() - startedAt).toBeLessThan(8000);
  await until(() => Promise.resolve(streams[1]?.isEnded === true));
  expect(streams[1]?.answer.complete).toBe(true);
});
