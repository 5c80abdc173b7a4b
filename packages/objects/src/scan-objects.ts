import type { ObjectScan, ScanPage } from '@vision/contracts/objects';
import type { ObjectStore } from './object-store.ts';

/** A row that names an object; `cursor` is its position in the order of the rows. */
export interface ScannedRow {
  cursor: string;
  taskId: string;
  objectKey: string;
}

/**
 * Compares a page of rows with the bucket. Rows are ordered by time, as keys of one prefix are, so the objects of a
 * page are listed and not queried one by one.
 */
export async function scanObjects(
  store: Pick<ObjectStore, 'list' | 'stat'>,
  findRows: (page: ScanPage) => Promise<ScannedRow[]>,
  page: ScanPage,
): Promise<ObjectScan> {
  const rows = await findRows(page);
  const present = await presentAmong(
    store,
    rows.map(({ objectKey }) => objectKey),
  );
  const missing = rows.filter(({ objectKey }) => !present.has(objectKey));
  return {
    checked: rows.length,
    missing: missing.map(({ taskId, objectKey }) => ({ task_id: taskId, object_key: objectKey })),
    next_cursor: rows.length < page.limit ? '' : (rows.at(-1)?.cursor ?? ''),
  };
}

/** Unrelated objects to list before the rest is queried one by one. */
const STRANGERS = 10_000;

async function presentAmong(store: Pick<ObjectStore, 'list' | 'stat'>, keys: string[]): Promise<Set<string>> {
  const present = new Set<string>();
  const groups = Map.groupBy(keys.toSorted(), directoryOf);
  for (const [directory, wanted] of groups) {
    const first = wanted[0] ?? '';
    const last = wanted.at(-1) ?? '';
    const sought = new Set(wanted);
    let strangers = 0;
    let reached = '';
    // The list starts after a given key: the first wanted key without its last character.
    for await (const { key } of store.list(directory, first.slice(0, -1))) {
      if (key > last || strangers > STRANGERS) break;
      reached = key;
      if (sought.has(key)) present.add(key);
      else strangers += 1;
    }
    if (strangers <= STRANGERS) continue;
    for (const key of wanted.filter((one) => one > reached)) if (await store.stat(key)) present.add(key);
  }
  return present;
}

/** Kind and database of a key: objects with the same are in the order of time. */
function directoryOf(key: string): string {
  const [, directory = ''] = /^([^/]+\/(?:of-[^/]+\/)?)/.exec(key) ?? [];
  return directory;
}
