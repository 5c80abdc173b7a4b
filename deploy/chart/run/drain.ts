import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { createVisionClient } from '@vision/client';
import type { ResultFrame, VisionClient } from '@vision/client';
import { startLiveSource } from '../../../examples/live-source.ts';
import { say } from '../../local/settings.ts';
import { becomesTrue } from '../../local/wait.ts';
import { newKey } from './key.ts';
import { addPod, drainPod } from './rollout.ts';
import type { Rollout } from './rollout.ts';
import { followStream, stillnessOf, untoldStillness } from './stream.ts';
import type { Followed } from './stream.ts';
import { portsOf } from './values.ts';
import type { Slot } from './values.ts';

const SCENE = 'person_vehicle';
const STREAMS = 2;
/** Frames of each stream before and after the drain. */
const FRAMES = 20;
/** docs/kubernetes.md promises that a stream goes on after `JOB_LEASE_MS` at most, its default here. */
const PROMISED_MS = 10_000;
const WAIT_MS = 120_000;

/**
 * Drains one of two pods of inference while live streams run, as a node that is emptied does. The streams have to go on
 * at the other one, every frame that a caller has read has to stay as it was, and the timeline has to tell the gap.
 * The pod in the other slot stays. @throws Error naming what did not hold.
 */
export async function drainUnderStreams(rollout: Rollout, slot: Slot, video: string): Promise<void> {
  const other = slot === 1 ? 2 : 1;
  const { settings, cluster } = rollout;
  const { http, admin } = portsOf(settings, 'gateway', 0);
  const apiKey = await newKey(`http://127.0.0.1:${admin}`, cluster);
  const client = createVisionClient({ baseUrl: `http://127.0.0.1:${http}`, apiKey });
  const source = await startLiveSource({ video });
  try {
    const streams: Followed[] = [];
    for (let count = 0; count < STREAMS; count += 1) {
      const task = await client.watchStream({ stream_url: source.url, scene_code: SCENE });
      streams.push(followStream(client, task.task_id));
    }
    await everyStream(streams, 'gives frames', ({ frames }) => frames.length >= FRAMES);
    await addPod(rollout, 'inference', other);
    const drained = await drainOf(rollout, slot);
    const from = streams.map(({ frames }) => frames.length);
    await everyStream(streams, 'goes on', ({ frames }, index) => frames.length >= (from[index] ?? 0) + FRAMES);
    for (const { taskId } of streams) await client.stop(taskId);
    for (const stream of streams) await stream.ended;
    const report = [];
    for (const stream of streams) report.push(await outcomeOf(client, stream, drained.at));
    say('drained', `inference with ${STREAMS} live streams in ${drained.seconds} s: ${report.join('; ')}`);
  } finally {
    source.close();
  }
}

async function drainOf(rollout: Rollout, slot: Slot): Promise<{ at: number; seconds: number }> {
  const at = Date.now();
  await drainPod(rollout, 'inference', slot);
  return { at, seconds: Math.round((Date.now() - at) / 1000) };
}

/** @throws Error naming a stream of which the fact does not become true. */
async function everyStream(streams: Followed[], what: string, fact: (one: Followed, index: number) => boolean) {
  for (const [index, stream] of streams.entries()) {
    const isTrue = () => Promise.resolve(fact(stream, index) || stream.failure !== undefined);
    if (!(await becomesTrue(isTrue, { timeoutMs: WAIT_MS })) || stream.failure !== undefined)
      throw new Error(`No live stream ${stream.taskId} that ${what}: ${inspect(stream.failure ?? 'it stays silent')}`);
  }
}

/** What a caller saw of one stream, once it has ended. @throws Error when a promise was broken. */
async function outcomeOf(client: VisionClient, { taskId, frames }: Followed, drainedAt: number): Promise<string> {
  const again: ResultFrame[] = [];
  for await (const frame of client.frames(taskId)) again.push(frame);
  const [read, stored] = [frames, again].map((list) => list.map((frame) => JSON.stringify(frame)));
  const lost = (read ?? []).filter((frame) => !(stored ?? []).includes(frame));
  if (lost.length > 0)
    throw new Error(`${taskId}: ${lost.length} frames that were read are not stored, such as ${lost[0] ?? ''}`);
  const missed = (stored ?? []).filter((frame) => !(read ?? []).includes(frame));
  if (missed.length > 0)
    throw new Error(`${taskId}: ${missed.length} frames that are stored were not read, such as ${missed[0] ?? ''}`);
  if (new Set(frames.map(({ frame_id: id }) => id)).size !== frames.length)
    throw new Error(`${taskId}: a frame came twice`);
  const still = stillnessOf(frames, drainedAt);
  if (still.ms > PROMISED_MS)
    throw new Error(`${taskId}: no frame for ${still.ms} ms, and ${PROMISED_MS} are promised`);
  const timeline = await timelineOf(client, taskId, still.fromMs);
  const untold = untoldStillness(frames, timeline.gaps);
  if (untold.length > 0) throw new Error(`${taskId}: the timeline tells no gap at ${untold.join(', ')}`);
  const told = timeline.gaps.filter(({ from_ms: from }) => from >= still.fromMs - 1000).map(({ reason }) => reason);
  return `no frame for ${(still.ms / 1000).toFixed(1)} s, told as ${told[0] ?? 'no gap, as no second was empty'}; ${frames.length} frames stayed`;
}

/** The seconds of the stream; the fold may be a moment behind its end. */
async function timelineOf(client: VisionClient, taskId: string, afterMs: number) {
  for (let tries = 0; ; tries += 1) {
    const params = { path: { task_id: taskId }, query: { bucket_ms: '1000' as const } };
    const { data, error } = await client.api.GET('/v1/vision/tasks/{task_id}/timeline', { params });
    if (data === undefined) throw new Error(`timeline: ${JSON.stringify(error)}`);
    if ((data.as_of_ms ?? 0) > afterMs + PROMISED_MS || tries > 100) return data;
    await delay(200);
  }
}
