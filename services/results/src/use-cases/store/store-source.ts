import type { Knex } from 'knex';
import { dayOfTask } from '@vision/contracts/ids';
import type { SourceChangedData } from '@vision/contracts/job-events';
import { isDeletedForNow } from '../../db/deleted-tasks.ts';
import { listState, lockSource, mergeStates, saveSource } from '../../db/sources.ts';
import { applySnapshot } from '../../domain/source.ts';

/** Maximum number of states of a task, and the number that is removed when there are more. */
const MOST_STATES = 1_000;
const MERGED_AT_ONCE = 100;

/**
 * Stores a snapshot of a source: the newest one replaces the previous one, and a new state is listed. Repeats, older
 * snapshots and those of a deleted task change nothing; no request deletes the task before the transaction ends. Beyond
 * 1,000 states the shortest ones of the older half are removed.
 */
export async function storeSource({ db }: { db: Knex.Transaction }, data: SourceChangedData): Promise<void> {
  const snapshot = { ...data, job_id: data.job_id.toLowerCase() };
  const taskId = snapshot.job_id;
  if (dayOfTask(taskId) === undefined) throw new Error('the job id is no UUIDv7, so no task of this system');
  if (await isDeletedForNow(db, taskId)) return;
  const change = applySnapshot(await lockSource(db, taskId), snapshot);
  if (!change) return;
  const { source, listedAtMs } = change;
  if (listedAtMs !== undefined) await listState(db, snapshot, listedAtMs);
  const isFull = source.states > MOST_STATES;
  const merged = isFull ? await mergeStates(db, taskId, { among: MOST_STATES / 2, most: MERGED_AT_ONCE }) : 0;
  await saveSource(db, { ...source, states: source.states - merged });
}
