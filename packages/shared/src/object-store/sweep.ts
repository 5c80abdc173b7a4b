import type { Knex } from 'knex';
import { clearMark, markOf, setMark } from '../audit/differences.ts';
import { databaseNow } from '../db/clock.ts';
import { inTransaction } from '../db/transaction.ts';
import { claimTurn, keepTurn } from '../db/turns.ts';
import { createCounter } from '../telemetry/instruments.ts';
import { sweepMetrics } from '../telemetry/shared-metrics.ts';
import type { ObjectStore } from './object-store.ts';

/** Stored objects of one kind. Their keys hold ids of tasks (UUIDv7), so they are in the order of time. */
export interface Sweep {
  db: Knex;
  store: Pick<ObjectStore, 'list' | 'remove'>;
  /** Begins the names of its turns and marks. */
  name: string;
  /** Below it lie these objects and nothing else. */
  prefix: string;
  /** A key below those of all ids that are made at this instant or later, and above those of all before. */
  firstKeyAt: (instant: Date) => string;
  /** Younger objects stay, as the store dates them. */
  ageMs: number;
  /** Longest time from the making of an id until its object is whole. */
  uploadMs: number;
  /** How often everything is looked at. */
  fullEveryMs: number;
  /** Those of these keys that nothing refers to. */
  findUnused: (keys: string[]) => Promise<string[]>;
}

const PAGE = 500;
/** Clocks of the store, the database and the replicas differ by less. */
const CLOCKS_MS = 60_000;
/** Of an interval, less than the whole: replicas do not come back to the millisecond. */
const TURN = 0.9;

/**
 * Removes old objects that nothing refers to, if it is this replica's turn: of those that became old enough since the
 * last sweep, and seldom of all. A sweep that is cut short is gone on with in the next turn.
 * @returns how many were removed; undefined when it is another replica's turn
 */
export async function sweepInTurn(
  sweep: Sweep,
  { everyMs, signal }: { everyMs: number; signal?: AbortSignal | undefined },
): Promise<number | undefined> {
  if (!(await claimTurn(sweep.db, marksOf(sweep).turn, TURN * everyMs))) return undefined;
  const cutOff = await cutOffOf(sweep);
  const removed = await sweepNew(sweep, cutOff, signal);
  return signal?.aborted ? removed : removed + (await goOnThroughAll(sweep, cutOff, signal));
}

/** Removes all old objects that nothing refers to, whoever's turn it is. @returns how many */
export async function sweepAll(sweep: Sweep): Promise<number> {
  const range = { look: 'all', after: '', cutOff: await cutOffOf(sweep) } as const;
  return (await removeUnused(sweep, range, () => Promise.resolve(true))).removed;
}

/** The keys between the mark and the age at which objects may be removed. */
async function sweepNew(sweep: Sweep, cutOff: Date, signal: AbortSignal | undefined): Promise<number> {
  const { db, firstKeyAt } = sweep;
  const { turn, sweptTo } = marksOf(sweep);
  // Without a mark this is the first sweep. What is older is then seen by the look through all.
  const mark = (await markOf(db, sweptTo)) ?? cutOff;
  // An object whose upload took long was younger than its key tells when the mark passed it.
  const from = new Date(mark.getTime() - sweep.uploadMs - CLOCKS_MS);
  const range = { look: 'new', after: firstKeyAt(from), before: firstKeyAt(cutOff), cutOff } as const;
  const { removed, isWhole } = await removeUnused(sweep, range, async () => {
    await keepTurn(db, turn);
    return !signal?.aborted;
  });
  if (isWhole) await setMark(db, sweptTo, cutOff);
  return removed;
}

/**
 * Everything, once in `fullEveryMs`: objects that came after the mark had passed their keys, and keys of other forms.
 * Its mark is there while it goes on, and says how far it is.
 */
async function goOnThroughAll(sweep: Sweep, cutOff: Date, signal: AbortSignal | undefined): Promise<number> {
  const { db, firstKeyAt, fullEveryMs } = sweep;
  const { turn, lookedThrough, lookedTo } = marksOf(sweep);
  await inTransaction(db, async (tx) => {
    if (await claimTurn(tx, lookedThrough, fullEveryMs)) await setMark(tx, lookedTo, START);
  });
  const from = await markOf(db, lookedTo);
  if (!from) return 0;
  const after = from > START ? firstKeyAt(from) : '';
  const { removed, isWhole } = await removeUnused(sweep, { look: 'all', after, cutOff }, async (lastKey) => {
    const reached = timeOf(lastKey);
    // A key of another form may hold a time that is not its place.
    if (reached && reached < cutOff && firstKeyAt(reached) < lastKey) await setMark(db, lookedTo, reached);
    await keepTurn(db, turn);
    return !signal?.aborted;
  });
  if (isWhole) await clearMark(db, lookedTo);
  return removed;
}

const START = new Date(0);

interface Range {
  look: 'new' | 'all';
  after: string;
  before?: string;
  cutOff: Date;
}

/** Looks at objects page by page, as long as `goOn` says so after each. */
async function removeUnused(
  { store, prefix, findUnused }: Sweep,
  { look, after, before, cutOff }: Range,
  goOn: (lastKey: string) => Promise<boolean>,
): Promise<{ removed: number; isWhole: boolean }> {
  const looked = createCounter(sweepMetrics.objects);
  let removed = 0;
  for await (const page of pagesOf(store.list(prefix, after), before)) {
    looked.add(page.length, { look });
    const old = page.filter(({ modifiedAt }) => modifiedAt <= cutOff).map(({ key }) => key);
    // Asked after they were listed: what refers to an object is stored before the object is.
    const unused = old.length > 0 ? await findUnused(old) : [];
    await store.remove(unused);
    removed += unused.length;
    if (!(await goOn(page.at(-1)?.key ?? ''))) return { removed, isWhole: false };
  }
  return { removed, isWhole: true };
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
  /** Ids before it were looked at when they were old enough. */
  sweptTo: `${name}_swept_to`,
  lookedThrough: `${name}_looked_through`,
  lookedTo: `${name}_looked_to`,
});

/** When the id in a key was made. */
function timeOf(key: string): Date | undefined {
  const [, high = '', low = ''] = /([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-/.exec(key) ?? [];
  return high === '' ? undefined : new Date(parseInt(high + low, 16));
}
