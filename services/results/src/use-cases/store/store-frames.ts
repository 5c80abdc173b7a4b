import type { Knex } from 'knex';
import { dayOfTask } from '@vision/contracts/ids';
import type { EffectTransaction } from '@vision/kafka/progress';
import { listLateFrames } from '../../db/frames.ts';
import { lockIngests, saveIngests } from '../../db/ingests.ts';
import type { LockedIngest } from '../../db/ingests.ts';
import type { FrameMessage } from '../../domain/fold-events.ts';
import { afterStoring, framesWith, planStoring } from '../../domain/plan-storing.ts';
import type { AfterStoring, FrameRow, StoringPlan } from '../../domain/plan-storing.ts';
import { announceEnd } from './announce-end.ts';
import { appendFrames, settleDoubtful } from './append-frames.ts';
import type { Deps } from '../deps.ts';
import type { StoredFrames } from '../rules/live-rules.ts';

type StoreDeps = Pick<Deps, 'partitions' | 'settings' | 'signals' | 'wakeRelay'>;

/**
 * Stores a run of frames and end-of-stream markers in one transaction, each frame once in effect: by task and number,
 * even if it is repeated.
 *
 * The row of a task in `ingests` is locked first, so writers of one task are serialised and `position` grows in commit
 * order, on which the cursors of readers rely. Frames above the largest stored number cannot be stored yet; the others
 * (repeats, or late frames) take the slower path that compares them with the stored ones first.
 *
 * Messages of a task that its owner has deleted are skipped and counted.
 *
 * An end-of-stream marker is applied, and announced, in the transaction that stores the last frame that it counts. The
 * messages of a task share a partition and keep their order, so usually that is at once; otherwise the marker waits.
 *
 * Frames that are read again after the database lost them were readable in time before, so their age is not measured.
 *
 * Returns the stored frames of each task.
 */
export async function storeFrames(
  deps: StoreDeps,
  messages: FrameMessage[],
  transaction: EffectTransaction,
  { isReread = false }: { isReread?: boolean } = {},
): Promise<StoredFrames[]> {
  const { byTask, expired } = await groupByTask(deps, messages);
  deps.signals.framesIgnored('expired', expired);
  if (byTask.size === 0) return [];
  const { stored, deleted } = await transaction((tx) => store(tx, byTask, deps.settings));
  deps.signals.framesIgnored('deleted', deleted);
  if (stored.some(({ end }) => end)) deps.wakeRelay();
  for (const { plan, readable, ingest, end, conflicts } of stored) {
    const timed = isReread ? [] : readable;
    for (const { isLive, frameTimeMs } of timed) if (isLive) deps.signals.frameReadable(frameTimeMs);
    deps.signals.framesStored(plan.newFrames.length);
    deps.signals.framesIgnored('older_attempt', plan.ignored);
    for (const conflict of conflicts) deps.signals.framesConflict(ingest.task_id, conflict);
    if (end) deps.signals.resultsCompleted(ingest.task_id, ingest.stored);
    else if (ingest.pending_end) deps.signals.endWaits(ingest.task_id, ingest.pending_end, ingest.attempt_stored);
  }
  return stored.map(({ before, plan, ingest }) => ({
    taskId: ingest.task_id,
    ruleSet: before.rule_set,
    from: before.position,
    to: ingest.position,
    frames: plan.newFrames,
  }));
}

interface TaskMessages {
  day: string;
  messages: FrameMessage[];
}

/** Messages of tasks whose results have expired are skipped and counted. */
async function groupByTask({ partitions }: Pick<Deps, 'partitions'>, messages: FrameMessage[]) {
  const byTask = new Map<string, TaskMessages>();
  for (const message of messages) {
    const taskId = message.data.job_id.toLowerCase();
    const group = byTask.get(taskId);
    if (group) {
      group.messages.push(message);
      continue;
    }
    const day = dayOfTask(taskId);
    if (day === undefined) throw new Error(`the job id ${taskId} is no UUIDv7, so no task of this system`);
    byTask.set(taskId, { day, messages: [message] });
  }
  const expiredDays = await partitions.ensure([...byTask.values()].map(({ day }) => day));
  let expired = 0;
  for (const [taskId, group] of byTask) {
    if (!expiredDays.has(group.day)) continue;
    expired += group.messages.length;
    byTask.delete(taskId);
  }
  return { byTask, expired };
}

interface Stored extends AfterStoring {
  before: LockedIngest;
  plan: StoringPlan;
  /** Frames that were not stored before. */
  readable: FrameRow[];
}

async function store(
  tx: Knex.Transaction,
  byTask: Map<string, TaskMessages>,
  { framePatienceMs: patienceMs, hotMs }: Deps['settings'],
): Promise<{ stored: Stored[]; deleted: number }> {
  const ingests = await lockIngests(tx, [...byTask.keys()]);
  let deleted = 0;
  const planned = [...byTask].flatMap(([taskId, { day, messages }]) => {
    const before = ingests.get(taskId);
    if (!before) throw new Error('the row of a locked task is missing');
    if (before.deleted_at === null) return [{ before, plan: planStoring(before, day, messages) }];
    deleted += messages.length;
    return [];
  });
  const plans = planned.map(({ plan }) => plan);
  const doubtfulFrames = plans.flatMap((plan) => plan.doubtfulFrames);
  const outcomes = await settleDoubtful(tx, doubtfulFrames);
  const late = framesWith(doubtfulFrames, outcomes, 'inserted');
  const { hot, written } = await appendFrames(tx, [...plans.flatMap(({ newFrames }) => newFrames), ...late]);
  await listLateFrames(tx, late);
  const stored = planned.map(({ before, plan }) => ({
    before,
    plan,
    readable: [...plan.newFrames, ...framesWith(plan.doubtfulFrames, outcomes, 'inserted')],
    ...afterStoring(plan, outcomes),
  }));
  const changed = stored.map(({ plan, ingest }) => {
    const counted = ingest.stored - plan.ingest.stored;
    return { ...ingest, unmatched_frames: (written.get(ingest.task_id) ?? 0) - counted };
  });
  await saveIngests(tx, changed, { patienceMs, hot, hotMs });
  for (const { ingest, end } of stored) if (end) await announceEnd(tx, ingest, end);
  return { stored, deleted };
}
