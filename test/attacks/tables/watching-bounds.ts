import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@vision/shared/testing/until';
import { runningPid } from '../../../deploy/local/background.ts';
import { readSettings } from '../../../deploy/local/settings.ts';
import { residentMiB } from '../../support/resident-memory.ts';
import { system } from '../../support/system.ts';
import { madeVideo } from '../../support/video.ts';
import type { Attack, AttackGroup, Target } from '../attack.ts';
import { finishedUpload } from '../finished-upload.ts';
import { liveStream, stopAll } from '../live-stream.ts';
import { names } from '../name-server.ts';
import { openRaw, rawRequest } from '../raw-http.ts';
import { counted, each, invalid, said } from '../say.ts';
import { fills, itemsOf, probe, streamOf } from './watching.ts';
import { tcpServer } from '../../../services/inference/test/support/live-servers.ts';

/** Where the camera of a probe is: at the first look-up here, and inside from the second one on. */
const turningProbe: Attack = {
  name: 'a probe of a name that leads to an inner address from the second look-up on',
  expected: '200 no_frame',
  attempt: async (target) => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: video/x-flv\r\nConnection: close\r\n\r\n';
    const beginning = Buffer.concat([Buffer.from(head), Buffer.from('464c5601050000000900000000', 'hex')]);
    const camera = await tcpServer((socket) => void socket.once('data', () => socket.end(beginning)));
    target.atEnd(camera.close);
    const inner = await target.inner(camera.port);
    // A look-up is two queries, and a name server that is held up is asked again.
    const host = names.add(() => ({ addresses: [camera.seen.connections === 0 ? '127.0.0.1' : inner.host] }));
    const { status, body } = await probe(await target.caller(), `http://${host}:${camera.port}/x`);
    return `${status} ${(body['problem'] as { reason: string } | undefined)?.reason ?? said({ status, body })}`;
  },
};

/** Serves a second of black images larger than any that is decoded; it takes some kilobytes. */
async function largeStream(target: Target): Promise<string> {
  const source = ['-f', 'lavfi', '-i', 'color=black:s=8208x4336:d=1:r=5'];
  const encoder = ['-c:v', 'libx264', '-preset', 'ultrafast', '-threads', '1', '-f', 'mpegts'];
  const bytes = await madeVideo('a.ts', ...source, ...encoder);
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: video/mp2t\r\nConnection: close\r\n\r\n';
  const camera = await tcpServer(
    (socket) => void socket.once('data', () => socket.end(Buffer.concat([Buffer.from(head), bytes]))),
  );
  target.atEnd(camera.close);
  return `http://127.0.0.1:${camera.port}/live.ts`;
}

const bombs: Attack[] = [
  {
    name: 'a probe of a stream of 8208×4336',
    expected: '200 no_frame',
    attempt: async (target) => {
      const { status, body } = await probe(await target.caller(), await largeStream(target));
      return `${status} ${(body['problem'] as { reason: string } | undefined)?.reason ?? 'no problem'}`;
    },
  },
  {
    name: 'a task of a stream of 8208×4336',
    expected: '201, 0 frames',
    charged: 1,
    attempt: async (target) => {
      const [caller, stream_url] = [await target.caller(), await largeStream(target)];
      const created = await caller.createStream({ scene_code: 'person_vehicle', stream_url });
      const task = `/v1/vision/tasks/${String(created.body['task_id'])}`;
      const isSeen = async () => {
        const { body } = await caller.get(`${task}/source`);
        return ['reconnecting', 'ended', 'blocked'].includes(String(body['state']));
      };
      await until(isSeen, { timeoutMs: 60_000 });
      const frames = itemsOf(await caller.get(`${task}/results`)).length;
      await stopAll(caller, [created]);
      return `${created.status}, ${frames} frames`;
    },
  },
];

/** Memory that a service may take for the clients of one address, in MiB; whole videos would be ten thousand. */
const MOST_GROWTH_MIB = 256;

const unreadDownloads: Attack = {
  name: '200 downloads of 40 MiB that no client reads',
  expected: 'gateway and tasks grew by less than 256 MiB',
  charged: 1,
  attempt: async (target) => {
    const owner = await target.caller();
    const clip = await madeVideo('a.mp4', '-f', 'lavfi', '-i', 'testsrc2=d=1:s=320x240', '-c:v', 'libx264');
    // A box that players skip.
    const padding = Buffer.alloc(40 << 20);
    padding.writeUInt32BE(padding.length, 0);
    padding.write('free', 4);
    const taskId = await target.prepared(() => finishedUpload(owner, Buffer.concat([clip, padding])));
    const line = rawRequest(`GET /v1/vision/tasks/${taskId}/video HTTP/1.1`, [
      'Host: x',
      `Authorization: Bearer ${owner.key}`,
      'Range: bytes=0-',
    ]);
    const pids = ['gateway', 'tasks'].map(pidOf);
    const before = pids.map(residentMiB);
    const sockets = await Promise.all(Array.from({ length: 200 }, () => openRaw({ from: '127.99.0.10' })));
    target.atEnd(() => {
      sockets.forEach((socket) => socket.destroy());
    });
    for (const socket of sockets) socket.pause().write(line);
    let grown = 0;
    // What is sent stops soon; memory would grow for as long as the store gives.
    const endsAt = performance.now() + 10_000;
    while (performance.now() < endsAt) {
      grown = Math.max(grown, ...pids.map((pid, at) => residentMiB(pid) - (before[at] ?? 0)));
      await delay(250);
    }
    return `gateway and tasks grew by ${grown < MOST_GROWTH_MIB ? `less than ${MOST_GROWTH_MIB}` : grown.toFixed()} MiB`;
  },
};

const endedLink: Attack = {
  name: 'a link whose time is over',
  expected: '404 task_not_found, then 404 link_invalid',
  attempt: async ({ caller }) => {
    const { body } = await (
      await caller()
    ).send('POST', '/v1/vision/links', {
      body: JSON.stringify({ path: `/v1/vision/tasks/${randomUUID()}/video`, expires_in_s: 60 }),
      headers: { 'content-type': 'application/json' },
    });
    const opened = async () => {
      const answer = await fetch(system.baseUrl + String(body['url']));
      const { details } = (await answer.json()) as { details: { reason: string } };
      return `${answer.status} ${details.reason}`;
    };
    const first = await opened();
    const isOver = async () => {
      const seen = await opened();
      return seen === first ? undefined : seen;
    };
    return `${first}, then ${await until(isOver, { timeoutMs: 90_000, intervalMs: 2_000 })}`;
  },
};

const negativeTimes: Attack = {
  name: 'a negative time of a stream, in every query',
  expected: invalid('query_invalid'),
  charged: 1,
  attempt: async (target) => {
    const [caller, stream] = [await target.caller(), await liveStream(target)];
    const created = await caller.createStream(stream);
    const task = `/v1/vision/tasks/${String(created.body['task_id'])}`;
    const views = ['results', 'results/stream', 'tracks', 'timeline'].map((view) => `${task}/${view}`);
    const paths = views.flatMap((view) => [`${view}?from_ms=-1`, `${view}?to_ms=-1`]);
    const answers = await Promise.all(paths.map((path) => caller.get(path)));
    await stopAll(caller, [created]);
    return each(answers.map(said));
  },
};

/** A service of the system under attack. */
function pidOf(service: string): number {
  const settings = readSettings();
  const pid = runningPid({ ...settings, localDir: join(settings.localDir, 'test') }, service);
  if (pid === undefined) throw new Error(`${service} does not run`);
  return pid;
}

export const watchingBounds: AttackGroup = {
  title: 'Bounds of what is watched',
  wanted: 'memory, time or addresses beyond what a reader is given',
  // One of them waits a minute for its link to end, beside others that keep both cores busy.
  withinMs: 240_000,
  atOnce: 3,
  isPatient: true,
  attacks: [
    turningProbe,
    ...bombs,
    negativeTimes,
    endedLink,
    unreadDownloads,
    fills('20 streams that search for what is not there', '20 × the end alone, meanwhile 120 frames', async (of) => {
      const { owner, taskId } = of;
      const path = `${streamOf(taskId)}?skip_empty=true&track_id=nobody`;
      const searching = Array.from({ length: 20 }, async () => {
        const { text } = await owner.get(path);
        return /event: frame/.test(text) || !/event: end\n/.test(text) ? 'more than the end' : 'the end alone';
      });
      const pages = await owner.get(`/v1/vision/tasks/${taskId}/results?limit=500`);
      return `${counted(await Promise.all(searching))}, meanwhile ${itemsOf(pages).length} frames`;
    }),
  ],
};
