import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { topics } from '@vision/contracts/topics';
import { createLogger } from '@vision/shared/logger';
import { createKafka } from '@vision/kafka/kafka';
import { errorLines } from './alarms.ts';
import type { LogLine } from './alarms.ts';
import { expectedOf, mergeLogs, readFrameLog } from './frame-log.ts';
import type { FrameLog, LoggedEnd, LoggedFrame } from './frame-log.ts';
import { underLoad } from './load.ts';
import { HOLE } from './nemesis/fault.ts';
import type { Strike } from './nemesis/nemesis.ts';
import type { Verdict } from './report.ts';
import { settle, stopEverything } from './settle.ts';
import type { State } from './state.ts';
import { storedFrames } from '../support/stored-frames.ts';
import type { StoredFrame } from '../support/stored-frames.ts';

/** Load before the records go, while nobody reads, and after. */
const AROUND_MS = 4_000;

interface Holes {
  strikes: Strike[];
  /** What the broker had before it lost some of it. */
  before: FrameLog;
}

/** The broker loses frames that results has not read: nothing brings them back, so an alarm has to tell it. */
export async function loseRecords(
  state: State,
  { times, random }: { times: number; random: () => number },
): Promise<Holes> {
  const holes: Holes = { strikes: [], before: { frames: new Map(), ends: new Map() } };
  for (let time = 0; time < times; time += 1) {
    const from = Date.now();
    const log = await underLoad(state.workload, { random }, () => loseOnce(state));
    holes.before = mergeLogs(holes.before, log);
    holes.strikes.push({ name: HOLE, holds: ['store kafka'], from, to: Date.now(), notes: [] });
  }
  await settle(state);
  await stopEverything(state);
  await settle(state);
  return holes;
}

/** Returns what the broker had before. */
async function loseOnce({ world }: State): Promise<FrameLog> {
  const readers = world.replicas.filter(({ service }) => service === 'results');
  await delay(AROUND_MS);
  for (const reader of readers) reader.signal('SIGSTOP');
  await delay(AROUND_MS);
  const log = await readFrameLog(world.brokers);
  await removeUpTo(world.brokers, log);
  for (const reader of readers) reader.signal('SIGCONT');
  await delay(AROUND_MS);
  return log;
}

export async function checkAlarms(
  state: State,
  { before }: Holes,
  lasting: (check: () => Promise<string[]>) => Promise<string[]>,
): Promise<Verdict> {
  let holes = 0;
  const check = async () => {
    const log = mergeLogs(before, await readFrameLog(state.world.brokers));
    const stored = await storedFrames(state.stores.askResults);
    const kept = [...log.frames].filter(([jobId]) => !state.workload.deletions.has(jobId));
    const torn = kept.flatMap(([jobId, frames]) =>
      holeOf({ jobId, frames, ends: log.ends.get(jobId) }, stored.get(jobId) ?? []),
    );
    holes = torn.length;
    const alarms = errorLines(join(state.world.settings.localDir, 'log'));
    return torn.filter((hole) => !isTold(hole, alarms)).map(({ jobId, lost }) => `job ${jobId}: ${lost.length} frames`);
  };
  const silent = await lasting(check);
  const breaches = holes === 0 ? ['no record was lost, so this shows nothing'] : silent;
  return { id: 'hole', says: `A hole is always alarmed (${holes} tasks lost frames for good)`, breaches };
}

interface Hole {
  jobId: string;
  lost: LoggedFrame[];
  newestAttempt: number;
}

interface LoggedJob {
  jobId: string;
  frames: readonly LoggedFrame[];
  ends: readonly LoggedEnd[] | undefined;
}

function holeOf({ jobId, frames, ends }: LoggedJob, stored: readonly StoredFrame[]): Hole[] {
  const known = new Set(stored.map(({ seq }) => seq));
  const lost = [...expectedOf(frames, ends).frames.values()].filter(({ seq }) => !known.has(seq));
  const newestAttempt = Math.max(...frames.map(({ attempt }) => attempt));
  return lost.length === 0 ? [] : [{ jobId, lost, newestAttempt }];
}

/**
 * Whether an alarm names the task: by its end mark, or by the audit when the mark is gone as well. An end mark counts
 * its own attempt only, so what an earlier one published is alarmed as records that the topic lost.
 */
function isTold({ jobId, lost, newestAttempt }: Hole, alarms: readonly LogLine[]): boolean {
  const isNamed = alarms.some(
    ({ msg, task_id: taskId, kind }) =>
      taskId === jobId &&
      (msg === 'frames of a task are missing' || (msg === 'an audit found a difference' && kind === 'stored_frames')),
  );
  const isOlder = lost.every(({ attempt }) => attempt < newestAttempt);
  return isNamed || (isOlder && lost.every((frame) => alarms.some((alarm) => isGapAt(alarm, frame))));
}

const isGapAt = ({ msg, topic, partition, from, to }: LogLine, { partition: own, offset }: LoggedFrame) =>
  msg === 'records were removed before they were handled' &&
  topic === topics.frames &&
  partition === own &&
  Number(from) <= offset &&
  offset < Number(to);

/** Removes every record that the log has. */
async function removeUpTo(brokers: string[], log: FrameLog): Promise<void> {
  const ends = new Map<number, number>();
  for (const { partition, offset } of [...log.frames.values()].flat()) {
    ends.set(partition, Math.max(ends.get(partition) ?? 0, offset + 1));
  }
  const admin = createKafka({ brokers, clientId: 'faults', logger: createLogger('faults', 'silent') }).kafka.admin();
  await admin.connect();
  try {
    const partitions = [...ends].map(([partition, offset]) => ({ partition, offset: String(offset) }));
    // Only a question about a topic makes this client look up who leads its partitions.
    await admin.fetchTopicOffsets(topics.frames);
    await admin.deleteTopicRecords({ topic: topics.frames, partitions });
  } finally {
    await admin.disconnect();
  }
}
