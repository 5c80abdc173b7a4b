import { claimCopies, dropCopies, hasCopy, oldestCopyAge } from '../../db/segment-copies.ts';
import type { SegmentCopy } from '../../db/segment-copies.ts';
import type { Deps } from '../deps.ts';

type VerifyDeps = Pick<Deps, 'db' | 'signals' | 'store'>;

/** Objects that are read at once. */
const AT_ONCE = 8;
/** A copy whose object could not be read, or was written again, is due after this time. */
const LEASE_MS = 60_000;

/**
 * Reads back the objects of moved segments, and drops the copies of intact ones. A missing or damaged object is written
 * again from its copy, which stays until a later round has read the object. Returns the number of processed objects.
 * @throws the first failure of the store; copies stay.
 */
export async function verifySegments(deps: VerifyDeps): Promise<number> {
  const copies = await claimCopies(deps.db, { limit: AT_ONCE, leaseMs: LEASE_MS });
  const rounds = await Promise.allSettled(copies.map((copy) => verify(deps, copy)));
  const intact = copies.filter((_copy, index) => {
    const round = rounds[index];
    return round?.status === 'fulfilled' && round.value === 'intact';
  });
  await dropCopies(
    deps.db,
    intact.map(({ objectKey }) => objectKey),
  );
  deps.signals.oldestUnverified(await oldestCopyAge(deps.db));
  const failed = rounds.find((round) => round.status === 'rejected');
  if (failed) throw failed.reason;
  return copies.length;
}

async function verify({ db, signals, store }: VerifyDeps, copy: SegmentCopy): Promise<'intact' | 'repaired'> {
  if (await store.isIntact(copy)) return 'intact';
  await store.put(copy.objectKey, copy.body);
  // Its day may have expired in the meantime, and its objects may be removed.
  if (!(await hasCopy(db, copy.objectKey))) await store.remove([copy.objectKey]);
  signals.segmentRepaired(copy.taskId, copy);
  return 'repaired';
}
