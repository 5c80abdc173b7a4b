import { markOf, setMark } from '@vision/shared/audit/differences';
import { databaseNow } from '@vision/shared/db/clock';
import { inTransaction } from '@vision/shared/db/transaction';
import { claimTurn, keepTurn } from '@vision/shared/db/turns';
import { createCounter, createGauge } from '@vision/shared/telemetry/instruments';
import { sweepMetrics } from '@vision/shared/telemetry/shared-metrics';
import { standingOf } from '@vision/objects/bucket-owner';
import type { OwnedObjects } from '@vision/objects/bucket-owner';
import type { ObjectStore } from '@vision/objects/object-store';
import { ownPrefixOf } from '@vision/objects/own-prefix';
import {
  clearReached,
  countCandidates,
  dueCandidates,
  forgetCandidates,
  markUnused,
  reachedKey,
  setReached,
} from './sweep-marks.ts';

/** Stored objects of one kind. Their keys hold ids of tasks (UUIDv7), so they are in the order of time. */
export interface Sweep extends OwnedObjects {
  /** Key after a database's prefix that separates ids created before this instant from all later ones. */
  firstKeyAt: (instant: Date) => string;
  /** Minimum age of an object, by the date of the store, before it can be removed. */
  ageMs: number;
  /** Longest time from the creation of an id until its object is complete. */
  uploadMs: number;
  /** Interval between two full scans. */
  fullEveryMs: number;
  /** Time from marking an unused object until its removal. */
  graceMs: number;
}

const PAGE = 500;
/** Maximum difference between the clocks of the store, the database and the replicas. */
const CLOCKS_MS = 60_000;
/**
 * Dead processes leave few unused objects. A page with more unknown objects than this belongs to another database: the
 * current one is new, restored from an older backup, or part of another installation.
 */
const MOST_UNKNOWN = { objects: 20, share: 0.2 };
/** Fraction of an interval after which the next turn is due: replicas do not wake to the millisecond. */
const TURN = 0.9;

/**
 * If it is this replica's turn: marks old objects without a reference, and removes those marked longer ago than the
 * grace time. Lists objects that became old enough since the last sweep, and all objects once in `fullEveryMs`. The
 * next turn continues an interrupted sweep.
 * @returns number of removed objects; undefined when it is another replica's turn, or sweeps are off
 */
export async function sweepInTurn(
  sweep: Sweep,
  { everyMs, signal }: { everyMs: number; signal?: AbortSignal | undefined },
): Promise<number | undefined> {
  // Every replica exports the metrics from the start, also one that sweeps nothing.
  instruments();
  const scope = await scopeOf(sweep);
  if (!scope || !(await claimTurn(sweep.db, marksOf(sweep).turn, TURN * everyMs))) return undefined;
  const goOn = async () => {
    await keepTurn(sweep.db, marksOf(sweep).turn);
    return !signal?.aborted;
  };
  const cutOff = await cutOffOf(sweep);
  await markNew(sweep, { own: scope.own, cutOff, goOn });
  if (!signal?.aborted) await goOnThroughAll(sweep, { below: scope.below, cutOff, goOn });
  return signal?.aborted ? 0 : removeDue(sweep, scope.below, goOn);
}

/** Sweeps all objects, regardless of turns. @returns number of removed objects */
export async function sweepAll(sweep: Sweep): Promise<number> {
  const scope = await scopeOf(sweep);
  if (!scope) return 0;
  const range = { look: 'all', below: scope.below, after: '', cutOff: await cutOffOf(sweep) } as const;
  const goOn = () => Promise.resolve(true);
  await mark(sweep, range, goOn);
  return removeDue(sweep, scope.below, goOn);
}

/** Key prefixes below which objects without a row may be removed. */
interface Scope {
  /** Prefix of the objects that this database writes now. */
  own: string;
  /** The whole bucket if this database is its only owner; otherwise its own prefix. */
  below: string;
}

async function scopeOf(sweep: Sweep): Promise<Scope | undefined> {
  const standing = await standingOf(sweep);
  if (standing !== 'owner' && standing !== 'shared') return undefined;
  const own = await ownPrefixOf(sweep);
  return { own, below: standing === 'owner' ? sweep.prefix : own };
}

/** Whether to continue after a page that ended with this key. */
type GoOn = (lastKey: string) => Promise<boolean>;

/** Marks unused objects with keys between the last sweep and the minimum age. */
async function markNew(sweep: Sweep, { own, cutOff, goOn }: { own: string; cutOff: Date; goOn: GoOn }): Promise<void> {
  const { db, firstKeyAt } = sweep;
  const { sweptTo } = marksOf(sweep);
  // Without a mark this is the first sweep; the full scan then covers older objects.
  const swept = (await markOf(db, sweptTo)) ?? cutOff;
  // An object with a long upload was younger than its key suggests when the last sweep passed it.
  const from = new Date(swept.getTime() - sweep.uploadMs - CLOCKS_MS);
  const keys = { after: own + firstKeyAt(from), before: own + firstKeyAt(cutOff) };
  if (await mark(sweep, { look: 'new', below: own, ...keys, cutOff }, goOn)) await setMark(db, sweptTo, cutOff);
}

/**
 * Full scan, once in `fullEveryMs`: finds objects stored after the mark had passed their keys, and keys of other forms.
 * Stores its position after each page.
 */
async function goOnThroughAll(
  sweep: Sweep,
  { below, cutOff, goOn }: { below: string; cutOff: Date; goOn: GoOn },
): Promise<void> {
  const { db, name, fullEveryMs } = sweep;
  await inTransaction(db, async (tx) => {
    if (await claimTurn(tx, marksOf(sweep).lookedThrough, fullEveryMs)) await setReached(tx, name, '');
  });
  const after = await reachedKey(db, name);
  if (after === undefined) return;
  const isWhole = await mark(sweep, { look: 'all', below, after, cutOff }, async (lastKey) => {
    await setReached(db, name, lastKey);
    return goOn(lastKey);
  });
  if (isWhole) await clearReached(db, name);
}

interface Range {
  look: 'new' | 'all';
  below: string;
  after: string;
  before?: string;
  cutOff: Date;
}

const instruments = () => ({
  looked: createCounter(sweepMetrics.objects),
  refused: createCounter(sweepMetrics.refused),
  candidates: createGauge(sweepMetrics.candidates),
});

/** Records zero candidates of this kind, so that its metrics exist from the start of a process. */
export function tellNothingToSweep(name: string): void {
  instruments().candidates.record(0, { sweep: name });
}

/** Marks unused objects page by page. @returns whether it reached the end */
async function mark(sweep: Sweep, { look, below, after, before, cutOff }: Range, goOn: GoOn): Promise<boolean> {
  const { db, name, store, findUnused } = sweep;
  const { looked, refused } = instruments();
  for await (const page of pagesOf(store.list(below, after), before)) {
    looked.add(page.length, { look });
    const old = page.filter(({ modifiedAt }) => modifiedAt <= cutOff).map(({ key }) => key);
    // Queried after the listing: the row that refers to an object is stored before the object.
    const unused = old.length > 0 ? await findUnused(old) : [];
    if (isRefused(sweep, { old, unused })) refused.add(unused.length);
    else await markUnused(db, name, unused);
    if (!(await goOn(page.at(-1)?.key ?? ''))) return false;
  }
  return true;
}

/** Removes objects marked longer ago than the grace time that are still unused. @returns their number */
async function removeDue(sweep: Sweep, below: string, goOn: GoOn): Promise<number> {
  const { db, name, store, findUnused, graceMs } = sweep;
  let removed = 0;
  for (;;) {
    const due = await dueCandidates(db, name, { below, graceMs, limit: PAGE });
    const unused = due.length > 0 ? await findUnused(due) : [];
    if (unused.length > 0) await store.remove(unused);
    await forgetCandidates(db, name, due);
    removed += unused.length;
    if (!(await goOn(due.at(-1) ?? '')) || due.length < PAGE) break;
  }
  instruments().candidates.record(await countCandidates(db, name), { sweep: name });
  return removed;
}

/** Whether too many objects of a page are unknown, so that none of them may be removed. */
function isRefused({ name, logger }: Sweep, { old, unused }: { old: string[]; unused: string[] }): boolean {
  if (unused.length <= Math.max(MOST_UNKNOWN.objects, MOST_UNKNOWN.share * old.length)) return false;
  const counts = { sweep: name, objects: old.length, unknown: unused.length };
  logger.error({ ...counts, object_key: unused[0] }, 'sweep refused: too many stored objects unknown to the database');
  return true;
}

type Listed = ReturnType<ObjectStore['list']> extends AsyncIterable<infer T> ? T : never;

async function* pagesOf(listed: AsyncIterable<Listed>, before: string | undefined): AsyncGenerator<Listed[]> {
  let page: Listed[] = [];
  for await (const object of listed) {
    if (before !== undefined && object.key >= before) break;
    page.push(object);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

async function cutOffOf({ db, ageMs }: Sweep): Promise<Date> {
  return new Date((await databaseNow(db)).getTime() - ageMs);
}

const marksOf = ({ name }: Sweep) => ({
  turn: `${name}_swept`,
  /** Sweeps have covered all ids before this instant. */
  sweptTo: `${name}_swept_to`,
  lookedThrough: `${name}_looked_through`,
});
