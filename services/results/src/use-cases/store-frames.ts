import type { Knex } from 'knex';
import type { JobEndedData } from '@vision/shared/contracts/frame-events';
import { taskResultsCompleted } from '@vision/shared/contracts/task-events';
import { appendEvent } from '@vision/shared/messaging/outbox';
import type { EffectTransaction } from '@vision/shared/messaging/progress';
import { copyFrames, insertMissingFrames } from '../db/frames.ts';
import { lockIngests, saveIngests } from '../db/ingests.ts';
import type { FrameMessage } from '../domain/fold-events.ts';
import { afterStoring, planStoring } from '../domain/plan-storing.ts';
import type { Ingest, StoringPlan } from '../domain/plan-storing.ts';
import { dayOfTask } from '../domain/task-day.ts';
import type { Deps } from './deps.ts';

type StoreDeps = Pick<Deps, 'partitions' | 'signals' | 'wakeRelay'>;

/**
 * Stores a run of frames and end marks in one transaction, each frame once in effect: by its unique key,
 * whatever is repeated.
 *
 * The row of a task in `ingests` is locked first, so writers of one task take turns and `position` grows in commit
 * order; that is what a reader's cursor relies on. Frames beyond the largest stored number cannot be there yet and go
 * in by COPY; the others (repeats, or frames that come late) take the slower way that looks first.
 *
 * A task's messages share a partition and keep their order, so when its end mark is reached everything before it is
 * stored: the completion is announced in the same transaction.
 */
export async function storeFrames(
  deps: StoreDeps,
  messages: FrameMessage[],
  transaction: EffectTransaction,
): Promise<void> {
  const { byTask, expired } = await groupByTask(deps, messages);
  deps.signals.framesIgnored('expired', expired);
  if (byTask.size === 0) return;
  const stored = await transaction((tx) => store(tx, byTask));
  if (stored.some(({ plan }) => plan.end)) deps.wakeRelay();
  for (const { plan, ingest } of stored) {
    deps.signals.framesStored(plan.newFrames.length);
    deps.signals.framesIgnored('older_attempt', plan.ignored);
    if (plan.end) deps.signals.resultsCompleted(ingest.task_id, ingest.stored);
  }
}

interface TaskMessages {
  day: string;
  messages: FrameMessage[];
}

/** Messages of tasks whose results have expired are left out and counted. */
async function groupByTask({ partitions }: Pick<Deps, 'partitions'>, messages: FrameMessage[]) {
  const byTask = new Map<string, TaskMessages>();
  for (const message of messages) {
    const taskId = message.data.job_id.toLowerCase();
    const day = dayOfTask(taskId);
    if (day === undefined) throw new Error(`the job id ${taskId} is no UUIDv7, so no task of this system`);
    const group = byTask.get(taskId);
    if (group) group.messages.push(message);
    else byTask.set(taskId, { day, messages: [message] });
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

interface Stored {
  plan: StoringPlan;
  ingest: Ingest;
}

async function store(tx: Knex.Transaction, byTask: Map<string, TaskMessages>): Promise<Stored[]> {
  const ingests = await lockIngests(tx, [...byTask.keys()]);
  const plans = [...byTask].map(([taskId, { day, messages }]) => {
    const before = ingests.get(taskId);
    if (!before) throw new Error('the row of a locked task is missing');
    return planStoring(before, day, messages);
  });
  const newFrames = plans.flatMap((plan) => plan.newFrames);
  const doubtfulFrames = plans.flatMap((plan) => plan.doubtfulFrames);
  await copyFrames(tx, newFrames);
  const inserted = await insertMissingFrames(tx, doubtfulFrames);
  const stored = plans.map((plan) => ({ plan, ingest: afterStoring(plan, inserted) }));
  const changed = stored.map(({ ingest }) => ingest);
  await saveIngests(tx, changed);
  for (const { plan, ingest } of stored) if (plan.end) await announce(tx, ingest, plan.end);
  return stored;
}

async function announce(tx: Knex.Transaction, ingest: Ingest, end: JobEndedData): Promise<void> {
  await appendEvent(tx, {
    ...taskResultsCompleted,
    key: ingest.task_id,
    source: 'results',
    data: {
      task_id: ingest.task_id,
      attempt: end.attempt,
      status: end.status,
      frames_stored: ingest.stored,
      error: end.error,
    },
  });
}
