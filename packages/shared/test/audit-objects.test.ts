import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { auditObjects } from '../src/audit/audit-objects.ts';
import type { DatedObject, ObjectPage } from '../src/audit/audit-objects.ts';
import { auditMigration, markOf, setMark } from '../src/audit/differences.ts';
import { createTestDatabase } from '../src/testing/postgres.ts';
import type { TestDatabase } from '../src/testing/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase([auditMigration]);
});
afterAll(() => database.drop());

const COUNT = 450;

/** Objects that were stored a minute ago, all in one transaction; the store lacks those with these numbers. Those
 * that are dated are found in the window of their instant only. */
function startAudit(kind: string, gone: number[], { isDated = false } = {}) {
  const at = new Date(Date.now() - 60_000).toISOString();
  const rows: DatedObject[] = Array.from({ length: COUNT }, (_, index) => ({
    objectKey: String(index).padStart(4, '0'),
    at,
  }));
  const missing = new Set(gone.map((index) => rows[index]?.objectKey));
  const load = { now: 0, most: 0, asked: 0, isAway: false };
  const pages: number[] = [];
  const audit = auditObjects<DatedObject, DatedObject>({
    db: database.db,
    kind,
    lagMs: 0,
    findPage: ({ window, after, limit }: ObjectPage<DatedObject>) => {
      const rest = rows.filter(
        (row) =>
          (!isDated || new Date(row.at) >= window.from) && (after === undefined || row.objectKey > after.objectKey),
      );
      pages.push(Math.min(limit, rest.length));
      return Promise.resolve(rest.slice(0, limit));
    },
    findAgain: (ids) => Promise.resolve(rows.filter(({ objectKey }) => ids.includes(objectKey))),
    has: async (objectKey) => {
      load.asked += 1;
      load.now += 1;
      load.most = Math.max(load.most, load.now);
      await new Promise(setImmediate);
      load.now -= 1;
      if (load.isAway) throw new Error('the store is unavailable');
      return !missing.has(objectKey);
    },
    toFound: ({ objectKey }) => ({ id: objectKey, details: {} }),
  });
  return { audit, load, pages };
}
const noted = async (kind: string) =>
  database.db('audit_differences').where({ kind }).orderBy('id').pluck<string[]>('id');

test('asks about all objects page by page, some at once', async () => {
  const { audit, load, pages } = startAudit('paged', [3, 200, 449]);
  expect([await audit.find(), await audit.find(), await audit.find()]).toEqual([true, true, false]);
  expect(pages).toEqual([200, 200, 50]);
  expect(load.asked).toBe(COUNT);
  expect(load.most).toBe(16);
  expect(await noted('paged')).toEqual(['0003', '0200', '0449']);
});

test('a page that fails is asked about again, and no mark passes it', async () => {
  const { audit, load } = startAudit('failing', [250]);
  await audit.find();
  const mark = await markOf(database.db, 'failing');
  load.isAway = true;
  const before = load.asked;
  await expect(audit.find()).rejects.toThrow('the store is unavailable');
  expect(load.asked - before).toBe(16);
  expect(await markOf(database.db, 'failing')).toEqual(mark);
  load.isAway = false;
  await audit.find();
  expect(await noted('failing')).toEqual(['0250']);
});

test('a mark that was set while the clock was ahead hides nothing of now', async () => {
  await setMark(database.db, 'ahead', new Date(Date.now() + 3_600_000));
  const { audit } = startAudit('ahead', [7, 300], { isDated: true });
  while (await audit.find());
  expect(await noted('ahead')).toEqual(['0007', '0300']);
  expect((await markOf(database.db, 'ahead'))?.getTime()).toBeLessThanOrEqual(Date.now());
});

test('confirms only what is missing still', async () => {
  const { audit, load } = startAudit('confirmed', [1, 2]);
  expect((await audit.confirm(['0001', '0002', '0003'])).map(({ id }) => id)).toEqual(['0001', '0002']);
  expect(load.asked).toBe(3);
});
