import type { Knex } from 'knex';
import { dayOfTask } from '@vision/contracts/ids';
import { inTransaction } from '@vision/shared/db/transaction';
import { countAttempt } from '../../db/frames.ts';
import { findIngest, findOverdueEnds, lockIngests, saveIngests } from '../../db/ingests.ts';
import type { OverdueEnd } from '../../db/ingests.ts';
import { isComplete, withEnd } from '../../domain/plan-storing.ts';
import type { Ingest } from '../../domain/plan-storing.ts';
import { announceEnd } from './announce-end.ts';
import type { Deps } from '../deps.ts';

type ApplyDeps = Pick<Deps, 'db' | 'loops' | 'settings' | 'signals' | 'wakeRelay'>;

const PAGE = 20;

/**
 * Applies end-of-stream markers whose wait has expired. Stored frames are counted first, because the running count may
 * be too small after an upgrade; frames that are really missing raise an alert. Each round processes all of them, so
 * markers that cannot be applied block no others. Returns the number of applied markers.
 */
export async function applyOverdueEnds(deps: ApplyDeps): Promise<number> {
  let applied = 0;
  try {
    await deps.loops.of('overdue_ends').forEach(overdueTasks(deps.db), async (taskId) => {
      if (await apply(deps, taskId)) applied += 1;
    });
  } finally {
    if (applied > 0) deps.wakeRelay();
  }
  return applied;
}

async function* overdueTasks(db: Knex): AsyncGenerator<string> {
  let after: OverdueEnd | undefined;
  do {
    const page = await findOverdueEnds(db, { limit: PAGE, after });
    for (const { task_id: taskId } of page) yield taskId;
    after = page.length === PAGE ? page.at(-1) : undefined;
  } while (after);
}

/** Returns whether the end-of-stream marker was applied. */
async function apply({ db, settings, signals }: ApplyDeps, taskId: string): Promise<boolean> {
  const seen = await findIngest(db, taskId);
  if (!seen?.pending_end) return false;
  // Counted outside the lock, which would also block the frames of other tasks.
  const counted = await inTransaction(db, (tx) => recount(tx, seen));
  const applied = await inTransaction(db, async (tx) => {
    const current = (await lockIngests(tx, [taskId])).get(taskId);
    const end = current?.pending_end;
    if (!end || current.attempt !== counted.attempt) return undefined;
    const ended = withEnd(withCount(current, counted), end);
    await saveIngests(tx, [ended], { patienceMs: settings.framePatienceMs });
    await announceEnd(tx, ended, end);
    return { ended, end };
  });
  if (!applied) return false;
  signals.resultsCompleted(taskId, applied.ended.stored);
  if (!isComplete(applied.ended, applied.end)) signals.framesMissing(taskId, applied.end, applied.ended.attempt_stored);
  return true;
}

type AttemptCount = Pick<Ingest, 'attempt' | 'attempt_stored' | 'attempt_first' | 'attempt_last'>;

async function recount(tx: Knex.Transaction, { task_id: taskId, attempt }: Ingest): Promise<AttemptCount> {
  const day = dayOfTask(taskId);
  if (day === undefined) throw new Error(`${taskId} is no id of this system`);
  const { stored, first, last } = await countAttempt(tx, { day, taskId, attempt });
  return { attempt, attempt_stored: stored, attempt_first: first, attempt_last: last };
}

/** Frames may have been stored since the count, and the running count may lack some: the larger number is right. */
function withCount(current: Ingest, counted: AttemptCount): Ingest {
  return counted.attempt_stored > current.attempt_stored ? { ...current, ...counted } : current;
}
