import { crashPoint } from '@vision/shared/crash-point';
import { fail } from '@vision/contracts/errors';
import { claimDeletions, confirmDeletions, hideAgain } from '../../db/deleted-tasks.ts';
import type { DeletedTask } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';

export type TellDeps = Pick<Deps, 'db' | 'images' | 'results' | 'signals'>;

type Told = Pick<DeletedTask, 'taskId' | 'kind'>;

/** Deletions that are told at once: as many as one call takes. */
const AT_ONCE = 100;
/** Interval at which an unconfirmed deletion is repeated. */
export const RETRY_MS = 30_000;
/**
 * A confirmed one too, after this long: a database that was restored from an older copy, or a process of an earlier
 * release, may have brought something back.
 */
const AGAIN_MS = 24 * 60 * 60 * 1000;

/** Tells deletions that are due; returns how many were due. */
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
 * Tells the services that have the results of these tasks that they are deleted, and stores what is confirmed.
 * @throws AppError OP-SYS-UNAVAILABLE when one of them does not answer; what the other confirmed is stored.
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
