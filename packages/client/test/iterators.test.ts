import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, jest, test } from '@jest/globals';
import { createVisionClient } from '@vision/client';
import { broken, endEvent, events, frameEvent, json, problem, startScriptedService } from './scripted-service.ts';
import type { Reply, ScriptedService } from './scripted-service.ts';

let service: ScriptedService;
afterEach(() => service.stop());

async function start(...replies: Reply[]) {
  service = await startScriptedService(...replies);
  return createVisionClient({ baseUrl: service.url, apiKey: 'vk_1', maxRetryMs: 20_000 });
}

const page = (ids: number[], next_cursor: string, resume_cursor: string) =>
  json(200, { items: ids.map((id) => ({ frame_id: `t-${id}`, track_id: `t-${id}` })), next_cursor, resume_cursor });

const lastIds = () => service.received.map(({ headers }) => headers['last-event-id']);
const pathsOf = () => service.received.map(({ url }) => url.replace('/v1/vision/tasks/one', ''));

async function idsOf(items: AsyncIterable<{ frame_id: string }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { frame_id } of items) ids.push(frame_id);
  return ids;
}

test('frames go on behind the last one over ends, breaks and refusals, until the end', async () => {
  const client = await start(
    events(`retry: 1\n\n${frameEvent(0)}${frameEvent(1)}`),
    events(`retry: 1\n\n${frameEvent(2)}:\nid: c3\n\n`, { breaks: true }),
    broken,
    problem(503, 'unavailable', { retryAfter: '0' }),
    events(`retry: 1\n\n${frameEvent(4)}${endEvent}`),
  );
  const frames = client.frames('one', { min_score: 0.5, labels: 'car' });
  expect(await idsOf(frames)).toEqual(['t-0', 't-1', 't-2', 't-4']);
  expect(lastIds()).toEqual([undefined, 'c1', 'c3', 'c3', 'c3']);
  expect(new Set(pathsOf())).toEqual(new Set(['/results/stream?min_score=0.5&labels=car']));
  expect(frames.cursor).toBe('e');
});

test('the cursor is that behind the last frame that was taken', async () => {
  const client = await start(
    events(frameEvent(0) + frameEvent(1) + frameEvent(2)),
    (res) => void res.writeHead(204).end(),
  );
  const frames = client.frames('one');
  await frames.next();
  await frames.next();
  expect(frames.cursor).toBe('c1');
  await frames.return?.();
  expect(await idsOf(client.frames('one', { cursor: frames.cursor }))).toEqual([]);
  expect(lastIds()).toEqual([undefined, 'c1']);
});

test('an event that arrives in pieces, with other line ends and letters of several bytes, is one', async () => {
  const text = 'event: frame\r\nid: c0\r\ndata: {"frame_id":"t-ü"}\r\n\r\n';
  const client = await start((res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    const bytes = Buffer.from(text);
    const sendFrom = (at: number): void => {
      if (at === bytes.length) res.end(endEvent);
      else res.write(bytes.subarray(at, at + 1), () => void setImmediate().then(() => sendFrom(at + 1)));
    };
    sendFrom(0);
  });
  expect(await idsOf(client.frames('one'))).toEqual(['t-ü']);
});

test.each([
  ['a release without streams', problem(404, 'not_found', { retryable: false })],
  ['a subject without a stream left', problem(429, 'too_many_in_flight', { limit: 'event_streams', retryAfter: '1' })],
  ['a proxy that answers for the service', json(200, {})],
] as [string, Reply][])('with %s the same frames come from pages', async (_name, refusal) => {
  const client = await start(
    events(`retry: 1\n\n${frameEvent(0)}`, { breaks: true }),
    refusal,
    page([1, 2], 'p2', 'p2'),
    broken,
    page([3], '', 'p3'),
    page([], '', 'p4'),
    page([4], '', ''),
  );
  const frames = client.frames('one', { skip_empty: true });
  expect(await idsOf(frames)).toEqual(['t-0', 't-1', 't-2', 't-3', 't-4']);
  expect(pathsOf().slice(2)).toEqual(
    ['c0', 'p2', 'p2', 'p3', 'p4'].map((cursor) => `/results?skip_empty=true&limit=200&cursor=${cursor}`),
  );
  expect([frames.cursor, await idsOf(client.frames('one', { cursor: frames.cursor }))]).toEqual(['', []]);
});

test.each([
  ['no time at all', 'retry: 0', 100],
  ['more than a timer holds', 'retry: 99999999999', 60_000],
])('a service that asks for %s before the next connection is asked again in time', async (_name, retry, expectedMs) => {
  const timers = jest.spyOn(globalThis, 'setTimeout');
  const hasPaused = () => timers.mock.calls.some(([, ms]) => ms === expectedMs);
  const client = await start(events(`${retry}\n\n`));
  const left = new AbortController();
  const refused = expect(client.frames('one', { signal: left.signal }).next()).rejects.toThrow('left');
  while (!hasPaused() && service.received.length < 20) await setImmediate();
  left.abort(new Error('left'));
  await refused;
  expect(hasPaused()).toBe(true);
  timers.mockRestore();
});

test('a refusal of the stream is thrown', async () => {
  const client = await start(problem(404, 'task_not_found', { retryable: false }));
  await expect(client.frames('one').next()).rejects.toMatchObject({
    problem: { details: { reason: 'task_not_found' } },
  });
});

test('tracks follow changes over pages, and a cursor within a page repeats that page', async () => {
  const client = await start(page([1, 2], 'p2', 'r2'), page([3], '', 'r3'), broken, page([1], '', ''));
  const tracks = client.tracks('one', { min_score: 0.5 });
  const ids: string[] = [];
  for await (const { track_id } of tracks) ids.push(`${track_id} ${tracks.cursor ?? '-'}`);
  expect(ids).toEqual(['t-1 -', 't-2 p2', 't-3 r3', 't-1 ']);
  expect(pathsOf()[0]).toBe('/tracks?order=changed&min_score=0.5');
});

test('a reader that leaves ends its connection', async () => {
  const closed = Promise.withResolvers<boolean>();
  const client = await start((res) => {
    res.on('close', () => closed.resolve(true));
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write(frameEvent(0));
  });
  for await (const frame of client.frames('one')) if (frame.frame_id === 't-0') break;
  expect(await closed.promise).toBe(true);
});

const logged = (n: number) => ({ event_id: `e-${n}`, type: 'task.running', sequence: n });
const loggedEvent = (n: number) => `event: task.running\nid: c${n}\ndata: ${JSON.stringify(logged(n))}\n\n`;
const eventPage = (ns: number[], next_cursor: string, resume_cursor: string) =>
  json(200, { items: ns.map(logged), next_cursor, resume_cursor });

test('events go on behind the last one over ends and breaks', async () => {
  const client = await start(
    events(`retry: 1\n\n:\nid: c0\n\n${loggedEvent(1)}`),
    broken,
    events(`retry: 1\n\n:\nid: c1\n\n${loggedEvent(2)}${loggedEvent(3)}`),
  );
  const log = client.events({ types: 'task.running' });
  for (const n of [1, 2, 3]) expect((await log.next()).value).toEqual(logged(n));
  expect([log.cursor, lastIds()]).toEqual(['c3', [undefined, 'c1', 'c1']]);
  expect(new Set(pathsOf())).toEqual(new Set(['/v1/vision/events/stream?types=task.running']));
  await log.return?.();
});

test('events from pages begin with the next one, or behind the cursor', async () => {
  const noStream = problem(429, 'too_many_in_flight', { limit: 'event_streams', retryAfter: '1' });
  const client = await start(noStream, eventPage([7], 'x', 'p7'), eventPage([8, 9], 'p9', 'p9'), noStream);
  const log = client.events();
  expect([(await log.next()).value, (await log.next()).value]).toEqual([logged(8), logged(9)]);
  expect(pathsOf().slice(1)).toEqual(['/v1/vision/events?order=newest&limit=1', '/v1/vision/events?cursor=p7']);
  await log.return?.();
});

test('an abort ends a wait for frames', async () => {
  const client = await start(
    (res) => void res.writeHead(200, { 'content-type': 'text/event-stream' }).write(frameEvent(0)),
  );
  const controller = new AbortController();
  const frames = client.frames('one', { signal: controller.signal });
  await frames.next();
  const refused = expect(frames.next()).rejects.toThrow('left');
  controller.abort(new Error('left'));
  await refused;
});
