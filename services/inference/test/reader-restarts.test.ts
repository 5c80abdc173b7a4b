import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fail } from '@vision/contracts/errors';
import { until } from '@vision/shared/testing/until';
import type { Sandbox } from '../src/sandbox/sandbox.ts';
import { httpServer, opener, street, take, watch } from './support/live-watch.ts';
import { descriptors, membersOf } from './support/processes.ts';
import { sandbox } from './support/sandbox.ts';
import { videoDirectory } from './support/videos.ts';

let videos: Awaited<ReturnType<typeof videoDirectory>>;
let clip: Buffer;

beforeAll(async () => {
  videos = await videoDirectory();
  clip = await readFile(await videos.make('clip.ts', '-i', street, '-c', 'copy', '-f', 'mpegts'));
});
afterAll(() => videos.remove());

/** Records the process groups that read the source: the reader, then ffmpeg. */
function groupsWatched() {
  const groups: number[][] = [];
  const started = (of: readonly number[]) => void groups.push([...of]);
  return { groups, decoderListener: { started, sees: () => undefined } };
}

const membersOfAll = (groups: readonly number[][]) => groups.flat().flatMap(membersOf);

/** Sends the clip repeatedly, as fast as it is read. */
function flood(res: ServerResponse): void {
  const more = () => {
    while (!res.destroyed && res.write(clip));
  };
  res.on('drain', more);
  more();
}

test.each([
  ['a reader', 0],
  ['a decoder', 1],
])(
  '%s that is killed in the middle of a video frame ends the attempt, and the next one gives frames',
  async (_name, at) => {
    const base = await httpServer((_req, res) => flood(res.writeHead(200)));
    const { groups, decoderListener } = groupsWatched();
    const live = watch(`${base}/x`, {}, { decoderListener });
    await take(live, 2);
    process.kill(-(groups[0]?.[at] ?? 0), 'SIGKILL');
    await until(() => live.retries.length > 0);
    expect(live.retries).toEqual(['decoder_failed']);
    // The kernel may still be removing the killed processes.
    await until(() => membersOf(groups[0]?.[0] ?? 0).length === 0);
    // One frame may be from the previous connection.
    expect(await take(live, 2)).toHaveLength(2);
    live.stop();
    await live.frames.return();
    await until(() => membersOfAll(groups).length === 0);
  },
);

test('when no reader or no decoder can be started, the attempt ends and its connection is closed', async () => {
  const open = new Set<unknown>();
  const base = await httpServer((req, res) => {
    open.add(req.socket);
    req.socket.once('close', () => open.delete(req.socket));
    res.writeHead(200).write(clip);
  });
  const before = descriptors().length;
  for (const failing of ['ipc', 'pipe']) {
    const without: Sandbox = {
      ...sandbox,
      spawn: (program, stdio) => {
        const isReader = stdio.includes('ipc');
        if (isReader === (failing === 'ipc')) throw fail.upstreamDown('decoder_not_started');
        return sandbox.spawn(program, stdio);
      },
    };
    const url = `${base}/x`;
    const live = watch(url, {}, { sandbox: without, openInput: opener(url, { sandbox: without }) });
    const next = live.frames.next();
    await until(() => live.retries.length >= 2);
    expect(new Set(live.retries)).toEqual(new Set(['decoder_failed']));
    live.stop();
    await next;
  }
  await until(() => open.size === 0 && descriptors().length <= before);
});

test('a decoder that stops reading blocks the source, not the service, and the attempt ends in its time', async () => {
  const base = await httpServer((_req, res) => flood(res.writeHead(200)));
  const { groups, decoderListener } = groupsWatched();
  const live = watch(`${base}/x`, { noFrameMs: 8000 }, { decoderListener });
  await take(live, 1);
  // On a slow machine the first frame may have come over a later connection.
  const [reader = 0, decoder = 0] = groups.at(-1) ?? [];
  const before = live.retries.length;
  process.kill(-decoder, 'SIGSTOP');
  const most = { bytes: 0 };
  await until(() => {
    most.bytes = Math.max(most.bytes, ...membersOf(reader).map(({ rssBytes }) => rssBytes));
    return live.retries.length > before;
  });
  expect(live.retries[before]).toBe('timeout');
  expect(most.bytes).toBeLessThan(200 << 20);
  live.stop();
  await live.frames.return();
  await until(() => membersOfAll(groups).length === 0);
});

// Number of restarts; 1,000 of them take about an hour on two cores.
const RESTARTS = Number(process.env['READER_RESTARTS'] ?? 8);

test(
  'attempt after attempt, no descriptor and no process is left',
  async () => {
    const base = await httpServer((_req, res) => void res.writeHead(200).end(clip.subarray(0, clip.length / 4)));
    const { groups, decoderListener } = groupsWatched();
    const url = `${base}/x`;
    const live = watch(url, { backoff: { minMs: 1, maxMs: 2 } }, { decoderListener, openInput: opener(url) });
    const reading = take(live, Infinity);
    await until(() => live.retries.length >= 2);
    const before = descriptors().length;
    let most = 0;
    await until(
      () => {
        most = Math.max(most, descriptors().length);
        return live.retries.length >= RESTARTS;
      },
      { timeoutMs: 180_000 * RESTARTS },
    );
    live.stop();
    await reading;
    await until(() => membersOfAll(groups).length === 0 && descriptors().length <= before);
    // The descriptors of one attempt, however many there were.
    expect(most - before).toBeLessThan(16);
  },
  3_600_000 * 4,
);
