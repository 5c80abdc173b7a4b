import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '@vision/shared/testing/until';
import { admin, Caller, example, form, jpeg, scene } from '../support/system.ts';
import type { Answer } from '../support/system.ts';
import { followAll, untilStatus, video } from '../support/video.ts';

const publishers = ['tasks', 'images', 'results'] as const;
const topics = ['tasks', 'images', 'results', 'frames'];
// Enough of an FLV stream for the probe; it stays open, so a job that watches it waits for its first picture.
const stream = createServer((_req, res) => {
  res.writeHead(200, { 'content-type': 'video/x-flv' });
  res.write(Buffer.concat([Buffer.from('464c5601050000000900000000', 'hex'), Buffer.alloc(1000)]));
});
let caller: Caller;
let began: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => stream.listen(0, '127.0.0.1', resolve));
  began = new Date().toISOString();
  caller = await Caller.create({ video_tasks_per_day: 10, images_per_day: 10 });
});
afterAll(() => {
  stream.close();
  stream.closeAllConnections();
});

test('whatever is published again, callers and operators see what they saw before, byte for byte', async () => {
  const ended = await workThatEnded();
  const running = await watchedStream();
  await settled();
  const before = await seen([...ended.ids, running.id]);
  const answersBefore = await repeated(ended.repeats);

  // The older half first, which is about states that are long over; then all of it.
  for (const share of [0.5, 1]) {
    const published = await Promise.all(publishers.map((service) => republish(service, share)));
    expect(Math.min(...published)).toBeGreaterThan(0);
    await settled();
    expect(await seen([...ended.ids, running.id])).toEqual(before);
    expect(await repeated(ended.repeats)).toEqual(answersBefore);
  }
  // What goes on goes on: the stream still runs, and is stopped and charged once.
  expect((await caller.stop(running.id)).body['status']).toBe('stopped');
  expect([await caller.used('video'), await caller.used('image')]).toEqual([3, 2]);
});

/** Two image calls, one with a picture that fails, and video tasks with each end that a caller can bring about. */
async function workThatEnded() {
  const street = await example('street.jpg');
  const streets = await example('street.mp4');
  const playlist = Buffer.from(
    '\0\0\0\x18ftypisom\0\0\0\0isommp42#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n',
    'latin1',
  );
  const bodies = {
    picture: () => form(jpeg(street), scene('person_vehicle')),
    halfBroken: () => form(jpeg(street.subarray(0, 2000)), jpeg(street), scene('person_vehicle')),
    succeeded: () => form(video(streets), scene('person_vehicle')),
    refunded: () => form(video(playlist), scene('person_vehicle')),
  };
  const keys = { picture: randomUUID(), halfBroken: randomUUID(), succeeded: randomUUID(), refunded: randomUUID() };
  const repeats = [
    () => caller.detect(bodies.picture(), keys.picture),
    () => caller.detect(bodies.halfBroken(), keys.halfBroken),
    () => caller.createUpload(bodies.succeeded(), keys.succeeded),
    () => caller.createUpload(bodies.refunded(), keys.refunded),
  ];
  const ids: string[] = [];
  for (const send of repeats) ids.push(idOf(await send()));
  const stopped = await watchedStream();
  await caller.stop(stopped.id);
  await followAll(caller, ids[2] ?? '');
  expect(await untilStatus(caller, ids[2] ?? '', 'succeeded', 'failed')).toBe('succeeded');
  expect(await untilStatus(caller, ids[3] ?? '', 'refunded', 'failed')).toBe('refunded');
  expect(await untilStatus(caller, stopped.id, 'stopped', 'failed')).toBe('stopped');
  return { ids: [...ids, stopped.id], repeats };
}

async function watchedStream(): Promise<{ id: string }> {
  const { port } = stream.address() as AddressInfo;
  const body = { scene_code: 'person_vehicle', stream_url: `http://127.0.0.1:${port}/live` };
  const id = idOf(await caller.createStream(body));
  await untilStatus(caller, id, 'running');
  return { id };
}

const idOf = ({ status, text, body }: Answer): string => {
  if (status !== 201) throw new Error(`not created: ${status} ${text}`);
  return String(body['task_id']);
};

/** Waits until every event is published and handled. Frames, which other tests may have left running, are no events. */
async function settled(): Promise<void> {
  await until(
    async () => {
      const { body } = await admin('GET', '/admin/v1/status');
      const told = (body['replicas'] as Replica[]).flatMap(({ status }) => status ?? []);
      const waiting = told.reduce((sum, { outbox }) => sum + (outbox?.waiting ?? 0), 0);
      const lags = told.flatMap(({ lag }) => lag).filter(({ group }) => group !== 'results-frames');
      return lags.length > 0 && waiting === 0 && lags.every(({ lag }) => lag === 0);
    },
    { intervalMs: 250 },
  );
}

interface Replica {
  status?: { outbox?: { waiting: number }; lag: { group: string; lag: number }[] };
}

/** All that can be seen of the work, in the words of the answers. */
async function seen(ids: string[]): Promise<Record<string, string>> {
  const ofCaller = [
    '/v1/vision/tasks?limit=100',
    '/v1/vision/usage',
    ...ids.flatMap((id) => [`/v1/vision/tasks/${id}`, `/v1/vision/tasks/${id}/results?limit=500&min_score=0`]),
  ];
  const ofOperators = [
    `/admin/v1/tasks?subject=${caller.subject}`,
    `/admin/v1/subjects/${caller.subject}/usage`,
    ...topics.map((topic) => `/admin/v1/dead-letters/${topic}`),
    ...ids.map((id) => `/admin/v1/tasks/${id}`),
  ];
  const texts: Record<string, string> = {};
  for (const path of ofCaller) texts[path] = lasting(await caller.get(path));
  for (const path of ofOperators) texts[path] = lasting(await admin('GET', path));
  texts['quota verify'] = lasting(await admin('POST', '/admin/v1/quota/verify'));
  return texts;
}

/** An answer without what tells of this very request, or of the time that has passed. */
function lasting({ status, text }: Answer): string {
  const told = text
    .replaceAll(/"(instance|trace_id)":"[^"]*"/g, '"$1":"…"')
    .replaceAll(/"age_s":\d+/g, '"age_s":0')
    .replaceAll(/,\{[^{}]*"what":"the backend last showed the job"[^{}]*\{\}[^{}]*\}/g, '');
  return `${status} ${told}`;
}

/** What a caller gets who sends each request again with its key. */
async function repeated(requests: (() => Promise<Answer>)[]): Promise<string[]> {
  const answers: string[] = [];
  for (const send of requests) answers.push(lasting(await send()));
  return answers;
}

/** Publishes this share of a service's events since the test began, oldest first, page by page; gives how many. */
async function republish(service: (typeof publishers)[number], share: number): Promise<number> {
  const range = { service, from: began, to: '2100-01-01T00:00:00Z' };
  const counted = await ask({ ...range, dry_run: true });
  const wanted = Math.ceil(counted.events * share);
  let events = 0;
  let after: string | undefined;
  while (events < wanted && after !== '') {
    const limit = Math.min(4, wanted - events);
    const page: Page = await ask({ ...range, dry_run: false, limit, after });
    events += page.events;
    after = page.next_cursor;
  }
  expect(events).toBe(wanted);
  return events;
}

interface Page {
  events: number;
  next_cursor: string;
}

async function ask(body: object): Promise<Page> {
  const answer = await admin('POST', '/admin/v1/outbox/republish', body);
  if (answer.status !== 200) throw new Error(`not published: ${answer.status} ${answer.text}`);
  return answer.body as unknown as Page;
}
