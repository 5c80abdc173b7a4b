import type { SegmentStore } from '../../clients/segment-store.ts';

const BATCH = 500;

/** Removes listed objects. Between two batches `goesOn` decides whether to continue; returns its last result. */
export async function removeListed(
  store: Pick<SegmentStore, 'remove'>,
  keys: AsyncIterable<string>,
  goesOn: () => Promise<boolean> = () => Promise.resolve(true),
): Promise<boolean> {
  let batch: string[] = [];
  for await (const key of keys) {
    batch.push(key);
    if (batch.length < BATCH) continue;
    await store.remove(batch);
    batch = [];
    if (!(await goesOn())) return false;
  }
  if (batch.length > 0) await store.remove(batch);
  return true;
}
