import type { Knex } from 'knex';
import { taskResultsCompleted } from '@vision/shared/contracts/task-events';
import { inTransaction } from '@vision/shared/db/transaction';
import { appendEvent } from '@vision/shared/messaging/outbox';
import { copyFrames, insertMissingFrames } from '../db/frames.ts';
import type { FrameRow } from '../db/frames.ts';
import { lockIngests, saveIngests } from '../db/ingests.ts';
import type { Ingest } from '../db/ingests.ts';
import { foldMessages } from '../domain/fold-events.ts';
import type { Fold, FrameMessage } from '../domain/fold-events.ts';
import { toStored } from '../domain/stored-objects.ts';
import { dayOfTask } from '../domain/task-day.ts';
import type { Signals } from '../signals.ts';
import type { PartitionKeeper } from './keep-partitions.ts';

export interface StoreFramesDeps {
  db: Knex;
  partitions: PartitionKeeper;
  signals: Signals;
  /** Called after a commit that appended an event. */
  wakeRelay: () => void;
}

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
export async function storeFrames(deps: StoreFramesDeps, messages: FrameMessage[]): Promise<void> {
  const { byTask, expired } = await groupByTask(deps, messages);
  deps.signals.framesIgnored('expired', expired);
  if (byTask.size === 0) return;
  const done = await inTransaction(deps.db, async (tx) => {
    const ingests = await lockIngests(tx, [...byTask.keys()]);
    const plans = [...byTask].map(([taskId, group]) => plan(ingests.get(taskId), group));
    await copyFrames(
      tx,
      plans.flatMap(({ fresh }) => fresh),
    );
    const found = await insertMissingFrames(
      tx,
      plans.flatMap(({ doubtful }) => doubtful),
    );
    for (const one of plans) count(one, found);
    await saveIngests(
      tx,
      plans.map(({ ingest }) => ingest),
    );
    const completed = plans.filter(({ announces }) => announces);
    for (const { ingest, fold } of completed) await announce(tx, ingest, fold);
    return { plans, completed };
  });
  if (done.completed.length > 0) deps.wakeRelay();
  report(deps.signals, done.plans);
}

interface TaskMessages {
  day: string;
  messages: FrameMessage[];
}

async function groupByTask({ partitions }: StoreFramesDeps, messages: FrameMessage[]) {
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

interface Plan {
  ingest: Ingest;
  fold: Fold;
  fresh: FrameRow[];
  doubtful: FrameRow[];
  /** A mark came into force with these messages. */
  announces: boolean;
}

function plan(ingest: Ingest | undefined, { day, messages }: TaskMessages): Plan {
  if (!ingest) throw new Error('the row of a locked task is missing');
  const fold = foldMessages(messages, ingest.attempt);
  ingest.attempt = fold.attempt;
  if (fold.restarted) ingest.end_status = null;
  const announces = fold.end !== undefined && ingest.end_status === null;
  if (fold.end) ingest.end_status = fold.end.status;
  const largest = ingest.max_seq;
  const rows = fold.frames.map((frame): FrameRow => {
    ingest.position += 1;
    return {
      day,
      taskId: ingest.task_id,
      seq: frame.seq,
      attempt: frame.attempt,
      position: ingest.position,
      frameTimeMs: frame.frame_time_ms,
      width: frame.image.width,
      height: frame.image.height,
      objects: toStored(frame.objects),
    };
  });
  return {
    ingest,
    fold,
    fresh: rows.filter(({ seq }) => seq > largest),
    doubtful: rows.filter(({ seq }) => seq <= largest),
    announces,
  };
}

function count({ ingest, fresh }: Plan, found: { taskId: string; position: number }[]): void {
  const late = found.filter(({ taskId }) => taskId === ingest.task_id);
  ingest.stored += fresh.length + late.length;
  ingest.max_seq = fresh.at(-1)?.seq ?? ingest.max_seq;
  for (const { position } of late) ingest.late_position = Math.max(ingest.late_position, position);
}

async function announce(tx: Knex.Transaction, ingest: Ingest, { end }: Fold): Promise<void> {
  if (!end) return;
  await appendEvent(tx, {
    ...taskResultsCompleted,
    key: ingest.task_id,
    source: 'results',
    data: {
      task_id: ingest.task_id,
      attempt: end.attempt,
      status: end.status,
      frames_stored: ingest.stored,
      ...(end.error === undefined ? {} : { error: end.error }),
    },
  });
}

function report(signals: Signals, plans: Plan[]): void {
  const sum = (of: (one: Plan) => number) => plans.reduce((total, one) => total + of(one), 0);
  signals.framesStored(sum(({ fresh }) => fresh.length));
  signals.framesIgnored(
    'older_attempt',
    sum(({ fold }) => fold.ignored),
  );
  for (const { ingest, announces } of plans) {
    if (announces) signals.resultsCompleted(ingest.task_id, ingest.stored);
  }
}
