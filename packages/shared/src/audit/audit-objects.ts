import type { Knex } from 'knex';
import type { Audit } from './auditor.ts';
import { noteDifferences, setMark, windowOf } from './differences.ts';
import type { Found, Window } from './differences.ts';

/** A row that names an object of the store. */
export interface NamedObject {
  objectKey: string;
}

/** The same with its instant in the order of the audit, as PostgreSQL writes it: a `Date` has no microseconds. */
export interface DatedObject extends NamedObject {
  at: string;
}

export interface ObjectPage<T> {
  window: Window;
  /** The last row of the page before. */
  after: T | undefined;
  limit: number;
}

export interface ObjectAuditOptions<T extends DatedObject, N extends NamedObject> {
  db: Knex;
  kind: string;
  /** Rows younger than this are left to a later round. */
  lagMs: number;
  /** Rows of the window, both ends included (a page may end within an instant), by `at` and then by key. */
  findPage: (page: ObjectPage<T>) => Promise<T[]>;
  /** The rows that these differences name, unless they are gone. */
  findAgain: (ids: string[]) => Promise<N[]>;
  has: (objectKey: string) => Promise<boolean>;
  toFound: (row: N) => Found;
}

const PAGE = 200;
/** Questions to the store at the same time. */
const AT_ONCE = 16;

/** Rows whose object is not in the store. Each is asked about once after it was stored, a page in a round. */
export function auditObjects<N extends NamedObject, T extends DatedObject & N>(
  options: ObjectAuditOptions<T, N>,
): Audit {
  const { db, kind, lagMs, findPage, findAgain, has, toFound } = options;
  let after: T | undefined;
  return {
    kind,
    find: async () => {
      const window = await windowOf(db, kind, lagMs);
      // A row of a clock that was ahead: those of now would lie behind it.
      if (after && new Date(after.at) > window.to) after = undefined;
      const page = await findPage({ window, after, limit: PAGE });
      await noteDifferences(db, kind, (await withoutObject(page, has)).map(toFound));
      const last = page.length === PAGE ? page.at(-1) : undefined;
      await setMark(db, kind, last?.at ?? window.to);
      after = last;
      return last !== undefined;
    },
    confirm: async (ids) => (await withoutObject(await findAgain(ids), has)).map(toFound),
  };
}

/** The rows whose object is missing. Asks about some at once, and about no further ones after a failure. */
export async function withoutObject<N extends NamedObject>(
  rows: readonly N[],
  has: (objectKey: string) => Promise<boolean>,
): Promise<N[]> {
  const missing: N[] = [];
  for (let from = 0; from < rows.length; from += AT_ONCE) {
    const some = rows.slice(from, from + AT_ONCE);
    const present = await Promise.all(some.map(({ objectKey }) => has(objectKey)));
    missing.push(...some.filter((_row, index) => !present[index]));
  }
  return missing;
}
