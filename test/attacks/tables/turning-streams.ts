import { readFileSync } from 'node:fs';
import { until } from '@vision/shared/testing/until';
import { HOSTILE_STREAMS } from '../../support/hostile-streams/flood-bytes.ts';
import { hostileStream } from '../../support/hostile-streams/hostile-stream.ts';
import { results } from '../../support/video.ts';
import type { Attack, AttackGroup, Target } from '../attack.ts';
import { joinNeighbour } from '../neighbour.ts';
import type { Service } from '../neighbour.ts';
import { said } from '../say.ts';

/** The stream plays for this long beside the neighbour, and then is hostile for the other time. */
const PLAYING_MS = 3_000;
const HOSTILE_MS = 4_000;
/** Other work may take the machine during one window; what a stream does to its neighbours goes on in the next. */
const MOST_WINDOWS = 3;
/** What a neighbour keeps of its frames, and how much longer its images may take. */
const FEWEST_FRAMES = 0.7;
const MOST_DELAY = 2.5;
/** A reader takes 8 MB a second and 32 MB at once; the kernel and the processes hold more of a connection. */
const BYTES_PER_MS = 8_000;
const BYTES_AT_ONCE = 32e6;
const BUFFERS = largestOf('tcp_rmem') + largestOf('tcp_wmem') + 8e6;

/** The largest buffer that the kernel gives a connection, bytes. */
function largestOf(setting: 'tcp_rmem' | 'tcp_wmem'): number {
  return Number(readFileSync(`/proc/sys/net/ipv4/${setting}`, 'utf8').trim().split(/\s+/)[2]);
}

/** Plays, and turns hostile beside a neighbour with a stream and images of its own. */
const attempt = (name: string) => async (target: Target) => {
  const stream = await hostileStream(name);
  target.atEnd(stream.close);
  const neighbour = await joinNeighbour();
  target.atEnd(neighbour.leave);
  const caller = await target.caller();
  const created = await caller.createStream({ scene_code: 'person_vehicle', stream_url: stream.url });
  if (created.status !== 201) return said(created);
  const taskId = String(created.body['task_id']);
  target.atEnd(() => caller.stop(taskId));
  await until(async () => (await results(caller, taskId)).items.length > 0, { timeoutMs: 30_000 });
  const before = await neighbour.observe(PLAYING_MS);
  const from = performance.now();
  const { floodBytes: atFirst } = await stream.turn();
  let losses = ['not observed'];
  for (let window = 0; window < MOST_WINDOWS && losses.length > 0; window += 1) {
    losses = lossesOf(before, await neighbour.observe(HOSTILE_MS));
  }
  const { floodBytes } = await stream.cost();
  return ['201', ...losses, ...excessOf(floodBytes - atFirst, performance.now() - from)].join(', ');
};

function lossesOf(before: Service, after: Service): string[] {
  return [
    ...(after.framesPerS < FEWEST_FRAMES * before.framesPerS
      ? [`frames of the neighbour fell from ${before.framesPerS.toFixed(1)} to ${after.framesPerS.toFixed(1)} a second`]
      : []),
    ...(after.imageMs > MOST_DELAY * before.imageMs
      ? [`images of the neighbour took ${after.imageMs.toFixed(0)} ms instead of ${before.imageMs.toFixed(0)}`]
      : []),
  ];
}

const excessOf = (bytes: number, ms: number) =>
  bytes > BYTES_AT_ONCE + BUFFERS + BYTES_PER_MS * ms ? [`${(bytes / 1e6).toFixed(0)} MB were read`] : [];

const row = (name: string): Attack => ({
  name,
  expected: '201',
  charged: 1,
  attempt: attempt(name),
});

export const turningStreams: AttackGroup = {
  title: 'Streams that play and then turn hostile',
  wanted: 'the processor of all, by what a stream sends once it plays',
  withinMs: 90_000,
  // Each measures what its neighbour is left with; more at once would take the machine for honest work.
  atOnce: 3,
  attacks: HOSTILE_STREAMS.map(row),
};
