import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { until } from '@vision/shared/testing/until';
import { admin, example, examples, form, jpeg, scene, system } from '../../support/system.ts';
import type { Answer, Caller } from '../../support/system.ts';
import { madeVideo, video } from '../../support/video.ts';
import type { Attack, AttackGroup, Target } from '../attack.ts';
import { finishedUpload } from '../finished-upload.ts';
import { UNREACHABLE } from '../create-streams.ts';
import { crowd } from '../crowd.ts';
import { liveStream, stopAll } from '../live-stream.ts';
import { names } from '../name-server.ts';
import { openRaw, rawRequest } from '../raw-http.ts';
import { counted, invalid, said } from '../say.ts';
import { tcpServer } from '../../../services/inference/test/support/live-servers.ts';

interface Watched {
  owner: Caller;
  taskId: string;
}

let watched: Promise<Watched> | undefined;

/** A tenant with a finished task that shows people, for all rows; its frames fill the buffers of a client. */
function busyTask(target: Target): Promise<Watched> {
  return target.prepared(() => (watched ??= makeBusyTask(target)));
}

async function makeBusyTask({ caller }: Target): Promise<Watched> {
  const owner = await caller();
  const bytes = await madeVideo('a.mp4', '-stream_loop', '1', '-i', join(examples, 'street.mp4'), '-c', 'copy');
  return { owner, taskId: await finishedUpload(owner, bytes) };
}

/** Reads something of the busy task with the key of its owner. */
const reads = (
  name: string,
  expected: string,
  read: (of: Watched) => Promise<string>,
  more: Partial<Attack> = {},
): Attack => ({ name, expected, ...more, attempt: async (target) => read(await busyTask(target)) });

/** The same with a tenant of its own, because it takes all streams that a tenant may have open. */
export const fills = (
  name: string,
  expected: string,
  read: (of: Watched, target: Target) => Promise<string>,
): Attack => ({
  name,
  expected,
  charged: 1,
  attempt: async (target) => read(await target.prepared(() => makeBusyTask(target)), target),
});

const trackOf = ({ body }: Answer) => (body['items'] as { track_id: string }[] | undefined)?.[0]?.track_id;
export const itemsOf = ({ body }: Answer) => (body['items'] ?? []) as { objects?: unknown[] }[];
export const streamOf = (taskId: string) => `/v1/vision/tasks/${taskId}/results/stream`;

/** A stream that goes on behind a made-up event. */
const resumed = (name: string, idOf: (of: Watched) => string | Promise<string>): Attack =>
  reads(`a stream behind ${name}`, invalid('cursor_invalid'), async (of) => {
    const headers = { 'last-event-id': await idOf(of) };
    return said(await of.owner.send('GET', streamOf(of.taskId), { headers }));
  });

async function openAtOnce({ owner, taskId }: Watched, count: number): Promise<number[]> {
  const end = new AbortController();
  const init = { headers: { authorization: `Bearer ${owner.key}` }, signal: end.signal };
  const open = async () => {
    const answer = await fetch(system.baseUrl + streamOf(taskId), init);
    if (answer.status !== 200) await answer.text();
    return answer.status;
  };
  const statuses: number[] = [];
  while (statuses.length < count) {
    const wave = Math.min(250, count - statuses.length);
    statuses.push(...(await Promise.all(Array.from({ length: wave }, open))));
  }
  end.abort();
  return statuses;
}

const GIVE_UP = '/v1/vision/tasks?give_up_after_s=';

/** A task that waits for its stream for a time that is none. */
const waits = (given: string): Attack => ({
  name: `a stream that is waited for ${given === '' ? 'no number of' : given.slice(0, 30)} seconds`,
  expected: invalid('query_invalid'),
  attempt: async (target) => {
    const [caller, stream] = [await target.caller(), await liveStream(target)];
    const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    return said(await caller.send('POST', GIVE_UP + given, { headers, body: JSON.stringify(stream) }));
  },
});

export const probe = (caller: Caller, stream_url: string): Promise<Answer> =>
  caller.send('POST', '/v1/vision/stream-probes', {
    body: JSON.stringify({ stream_url }),
    headers: { 'content-type': 'application/json' },
  });

const probes: Attack[] = [
  {
    name: 'a probe of a name that leads inside',
    expected: UNREACHABLE,
    attempt: async (target) => {
      const [inner, caller] = [await target.inner(), await target.caller()];
      const host = names.add(() => ({ addresses: [inner.host] }));
      return said(await probe(caller, `http://${host}:${inner.port}/inner`));
    },
  },
  {
    name: 'a probe of a stream that leads inside',
    expected: UNREACHABLE,
    attempt: async (target) => {
      const [inner, caller] = [await target.inner(), await target.caller()];
      const head = `HTTP/1.1 302 Found\r\nLocation: ${inner.url('http')}\r\nContent-Length: 0\r\n\r\n`;
      const server = await tcpServer((socket) => void socket.once('data', () => socket.end(head)));
      target.atEnd(server.close);
      return said(await probe(caller, `http://127.0.0.1:${server.port}/x`));
    },
  },
  {
    name: 'a probe of a stream that drips',
    expected: UNREACHABLE,
    attempt: async (target) => {
      const caller = await target.caller();
      const timers = new Set<NodeJS.Timeout>();
      const server = await tcpServer((socket) => timers.add(setInterval(() => socket.write('H'), 500)));
      target.atEnd(() => {
        timers.forEach(clearInterval);
        server.close();
      });
      return said(await probe(caller, `http://127.0.0.1:${server.port}/x`));
    },
  },
];

const deletions: Attack[] = [
  {
    name: 'deleting a task that runs',
    expected: '409 task_not_ended',
    charged: 1,
    attempt: async (target) => {
      const [caller, stream] = [await target.caller(), await liveStream(target)];
      const created = await caller.createStream(stream);
      const answer = await caller.send('DELETE', `/v1/vision/tasks/${String(created.body['task_id'])}`);
      await stopAll(caller, [created]);
      return said(answer);
    },
  },
  {
    name: 'deleting a call twice, then its request again',
    expected: '202, 202, 404 task_not_found',
    charged: 1,
    attempt: async ({ caller: own }) => {
      const [caller, key, street] = [await own(), randomUUID(), await example('street.jpg')];
      const call = () => caller.detect(form(jpeg(street)), key);
      const path = `/v1/vision/tasks/${String((await call()).body['task_id'])}`;
      const answers = [await caller.send('DELETE', path), await caller.send('DELETE', path), await call()];
      return answers.map(said).join(', ');
    },
  },
];

export const watching: AttackGroup = {
  title: 'Watching tasks',
  wanted: 'work without bounds, content of others, or a task that nothing ends',
  withinMs: 180_000,
  atOnce: 4,
  isPatient: true,
  attacks: [
    reads(
      'frames with a label that is in no scene',
      '200, 0 objects',
      async ({ owner, taskId }) => {
        const answer = await owner.get(`/v1/vision/tasks/${taskId}/results?labels=unicorn&min_score=0&limit=500`);
        return `${said(answer)}, ${itemsOf(answer).flatMap(({ objects }) => objects ?? []).length} objects`;
      },
      { charged: 1 },
    ),
    reads('tracks with a label that is in no scene', '200, 0 tracks', async ({ owner, taskId }) => {
      const answer = await owner.get(`/v1/vision/tasks/${taskId}/tracks?labels=unicorn`);
      return `${said(answer)}, ${itemsOf(answer).length} tracks`;
    }),
    {
      name: 'the image of a track without one',
      expected: '404 snapshots_off',
      charged: 1,
      attempt: async ({ caller: own }) => {
        const caller = await own();
        const clip = video(await example('street.mp4'));
        const headers = { 'idempotency-key': randomUUID() };
        const body = form(clip, scene('person_vehicle'));
        const path = '/v1/vision/video-tasks?snapshots=off';
        const created = await caller.send('POST', path, { headers, body });
        const task = `/v1/vision/tasks/${String(created.body['task_id'])}`;
        const trackId = await until(async () => trackOf(await caller.get(`${task}/tracks?limit=1`)));
        return said(await caller.get(`${task}/tracks/${trackId}/snapshot`));
      },
    },
    reads('the image of a track that never was', '404 track_not_found', async ({ owner, taskId }) =>
      said(await owner.get(`/v1/vision/tasks/${taskId}/tracks/a1-999999/snapshot`)),
    ),
    resumed('an event that was made up', () => 'A'.repeat(46)),
    resumed('an event of 8 KiB', () => 'A'.repeat(8_000)),
    resumed('a place among tracks', async ({ owner, taskId }) => {
      const { body } = await owner.get(`/v1/vision/tasks/${taskId}/tracks?limit=1`);
      return String(body['next_cursor']);
    }),
    reads('a stream of a task that has ended', '200, 120 frames, then the end', async ({ owner, taskId }) => {
      const { status, text } = await owner.get(streamOf(taskId));
      const frames = text.match(/^event: frame$/gm)?.length ?? 0;
      return `${status}, ${frames} frames${/event: end\n/.test(text) ? ', then the end' : ''}`;
    }),
    {
      name: 'a stream of an image call',
      expected: invalid('not_a_video_task'),
      charged: 1,
      attempt: async ({ caller: own }) => {
        const caller = await own();
        const { body } = await caller.detect(form(jpeg(await example('street.jpg'))));
        return said(await caller.get(streamOf(String(body['task_id']))));
      },
    },
    fills('1,000 streams, 250 opened at once', 'some were opened, the others 429; then 200', async (of, target) => {
      const statuses = await crowd(target, () => openAtOnce(of, 1_000));
      // A stream of an ended task frees its slot as soon as all is sent.
      const seen = statuses.includes(200) ? 'some were opened' : 'none was opened';
      const others = [...new Set(statuses.filter((status) => status !== 200))].join();
      const later = await until(async () => (await openAtOnce(of, 1)).find((status) => status === 200));
      return `${seen}, the others ${others}; then ${later}`;
    }),
    fills('20 streams of results that are never read', '20 × cut, then 200', async (of) => {
      const line = rawRequest(`GET ${streamOf(of.taskId)}?min_score=0 HTTP/1.1`, [
        'Host: x',
        `Authorization: Bearer ${of.owner.key}`,
      ]);
      const ends = Array.from({ length: 20 }, async () => {
        const socket = await openRaw({ from: '127.99.0.9' });
        socket.pause().write(line);
        // A side that does not read learns of the end when it writes.
        const isCut = () => {
          if (!socket.destroyed) socket.write(' ');
          return socket.destroyed;
        };
        const seen = await until(isCut, { timeoutMs: 75_000, intervalMs: 1_000 }).then(
          () => 'cut',
          () => 'left open',
        );
        socket.destroy();
        return seen;
      });
      const seen = counted(await Promise.all(ends));
      return `${seen}, then ${await until(async () => (await openAtOnce(of, 1)).find((status) => status === 200))}`;
    }),
    {
      name: 'a link whose key was revoked',
      expected: '404 link_invalid',
      attempt: async ({ caller: own }) => {
        const key = await (await own()).anotherKey();
        const { body } = await key.send('POST', '/v1/vision/links', {
          body: JSON.stringify({ path: `/v1/vision/tasks/${randomUUID()}/video`, expires_in_s: 3600 }),
          headers: { 'content-type': 'application/json' },
        });
        await admin('DELETE', `/admin/v1/keys/${key.key.split('_')[1] ?? ''}`);
        const opened = async () => {
          const answer = await fetch(system.baseUrl + String(body['url']));
          const { details } = (await answer.json()) as { details: { reason: string } };
          return details.reason === 'link_invalid' ? `${answer.status} ${details.reason}` : undefined;
        };
        return until(opened, { timeoutMs: 10_000 });
      },
    },
    ...probes,
    ...deletions,
    ...['59', '86401', '-60', '60.5', '', '1e999', '0x3c0', '60&give_up_after_s=60'].map(waits),
    {
      name: 'an upload that waits for its camera',
      expected: invalid('unknown_field'),
      attempt: async ({ caller }) => {
        const headers = { 'idempotency-key': randomUUID() };
        const path = '/v1/vision/video-tasks?give_up_after_s=60';
        return said(await (await caller()).send('POST', path, { headers, body: form(scene('ship')) }));
      },
    },
  ],
};
