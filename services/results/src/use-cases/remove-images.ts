import { ownedPrefix } from '@vision/contracts/object-keys';
import { TRACK_SNAPSHOT_PREFIX, TRACK_SNAPSHOTS } from '@vision/contracts/track-snapshots';
import type { Standing } from '@vision/objects/bucket-owner';
import { crashPoint } from '@vision/shared/crash-point';
import type { TaskOfDay } from '../db/deleted-tasks.ts';
import { forgetImages, imagesOfTask, removeSnapshots, writerOf } from '../db/track-snapshots.ts';
import type { Deps } from './deps.ts';

type RemoveDeps = Pick<Deps, 'db' | 'store'>;

const OBJECTS = 500;
const ROWS = 2_000;

/**
 * Removes the images of a deleted task, objects first, then rows: cut short, it is repeated. They show people, so they
 * do not wait for the sweep and its grace. A restored database leaves the objects to the sweep, because a newer copy
 * may have the task still.
 *
 * @param standing how the database stands to the bucket; asked of the store, so once for many tasks
 */
export async function removeImages(
  deps: RemoveDeps,
  task: TaskOfDay,
  standing: () => Promise<Standing>,
): Promise<void> {
  if (deps.store.bucket && (await standing()) !== 'restored') await removeObjects(deps, task);
  while ((await removeSnapshots(deps.db, task, ROWS)) === ROWS);
}

async function removeObjects({ db, store }: RemoveDeps, task: TaskOfDay): Promise<void> {
  const writer = await writerOf(db, TRACK_SNAPSHOTS);
  // Images that were replaced, and those whose event was lost, have no row.
  if (writer !== undefined) {
    const own = ownedPrefix(TRACK_SNAPSHOT_PREFIX, writer);
    for await (const keys of inBatches(store.list(`${own}${task.day}/${task.taskId}/`))) await store.remove(keys);
  }
  crashPoint('results.task_images_removed');
  for (;;) {
    const keys = await imagesOfTask(db, task, OBJECTS);
    if (keys.length === 0) return;
    await store.remove(keys);
    await forgetImages(db, task, keys);
  }
}

async function* inBatches(keys: AsyncIterable<string>): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const key of keys) {
    batch.push(key);
    if (batch.length < OBJECTS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
