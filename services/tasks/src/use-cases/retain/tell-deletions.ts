import { crashPoint } from '@vision/shared/crash-point';
import { fail } from '@vision/contracts/errors';
import { claimDeletions, confirmDeletions, hideAgain } from '../../db/deleted-tasks.ts';
import type { DeletedTask } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';

export type TellDeps = Pick<Deps, 'db' | 'images' | 'results' | 'signals'>;

type Told = Pick<DeletedTask, 'taskId' | 'kind'>;

/** Deletions per call, the maximum of the contract. */
const AT_ONCE = 100;
/** Interval at which an unconfirmed deletion is repeated. */
export const RETRY_MS = 30_000;
/**
 * Interval at which a confirmed deletion is repeated: a database restored from an older copy, or a process of an
 * earlier release, may have restored some data.
 */
const AGAIN_MS = 24 * 60 * 60 * 1000;

/** Notifies services of due deletions; returns the number of due deletions. */
export async function tellDueDeletions(deps: TellDeps): Promise<number> {
  const due = await claimDeletions(deps.db, { limit: AT_ONCE, leaseMs: RETRY_MS });
  if (due.length === 0) return 0;
  await hideAgain(
    deps.db,
    due.map(({ taskId }) => taskId),
  );
  await tellDeletions(deps, due);
  return due.length;
}

/**
 * Notifies the services that have the results of these tasks, and stores their confirmations.
 * @throws AppError OP-SYS-UNAVAILABLE when one of them does not answer; a confirmation of the other is stored.
 */
export async function tellDeletions(deps: TellDeps, deletions: Told[]): Promise<void> {
  const { db, images, results } = deps;
  const [ofImages, ofResults] = [idsOf(deletions, true), idsOf(deletions, false)];
  const outcomes = await Promise.allSettled([
    ofImages.length === 0 ? [] : (images?.delete(ofImages) ?? unknownService('images_unavailable')),
    ofResults.length === 0 ? [] : (results?.delete(ofResults) ?? unknownService('results_unavailable')),
  ]);
  crashPoint('tasks.delete.told');
  const confirmed = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []));
  await confirmDeletions(db, confirmed, AGAIN_MS);
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
}

const idsOf = (deletions: Told[], areImages: boolean): string[] =>
  deletions.flatMap(({ taskId, kind }) => ((kind === 'image') === areImages ? [taskId] : []));

const unknownService = (reason: 'images_unavailable' | 'results_unavailable') =>
  Promise.reject(fail.sysUnavailable(reason, new Error('its address is not set')));
