import { ownedPrefix } from '@vision/contracts/object-keys';
import { TRACK_SNAPSHOT_PREFIX, TRACK_SNAPSHOTS } from '@vision/contracts/track-snapshots';
import type { Standing } from '@vision/objects/bucket-owner';
import { crashPoint } from '@vision/shared/crash-point';
import type { TaskOfDay } from '../../db/deleted-tasks.ts';
import { forgetImages, imagesOfTask, removeSnapshots, writerOf } from '../../db/track-snapshots.ts';
import type { Deps } from '../deps.ts';
import { removeListed } from './remove-listed.ts';

type RemoveDeps = Pick<Deps, 'db' | 'store'>;

const OBJECTS = 500;
const ROWS = 2_000;

/**
 * Removes the images of a deleted task, objects first, then rows: if interrupted, it is repeated. They show people, so
 * they do not wait for the sweep and its grace period. A restored database leaves the objects to the sweep, because a
 * newer copy may still have the task.
 *
 * @param standing relation of the database to the bucket; queried from the store, so once for many tasks
 */
export async function removeImages(
  deps: RemoveDeps,
  task: TaskOfDay,
  standing: () => Promise<Standing>,
): Promise<void> {
  const writer = await writerOf(deps.db, TRACK_SNAPSHOTS);
  // Without a writer no task has ever had an image.
  if (writer !== undefined && (await standing()) !== 'restored') await removeObjects(deps, task, writer);
  while ((await removeSnapshots(deps.db, task, ROWS)) === ROWS);
}

async function removeObjects({ db, store }: RemoveDeps, task: TaskOfDay, writer: string): Promise<void> {
  const own = ownedPrefix(TRACK_SNAPSHOT_PREFIX, writer);
  // Images that were replaced, or whose event was lost, have no row.
  await removeListed(store, store.list(`${own}${task.day}/${task.taskId}/`));
  crashPoint('results.task_images_removed');
  for (;;) {
    const keys = await imagesOfTask(db, task, OBJECTS);
    if (keys.length === 0) return;
    await store.remove(keys);
    await forgetImages(db, task, keys);
  }
}
