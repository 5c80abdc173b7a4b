import type { Knex } from 'knex';
import { decodeHeads } from '@vision/contracts/segments/head';
import { openBody } from '../src/domain/segments/segment.ts';
import { toStored } from '../src/domain/stored-objects.ts';

interface StoredSegment {
  id: string;
  day: string;
  heads: Buffer;
  body: Buffer;
}

/**
 * Turns the hot segments of a task into rows, as release 0.3 stores them with WRITE_SEGMENTS=false. A task of rows
 * alone is never due for compaction, so only the row finder leads to them.
 */
export async function turnIntoRows(db: Knex, taskId: string): Promise<void> {
  await db.transaction(async (tx) => {
    const segments = await tx('segments')
      .where({ task_id: taskId })
      .whereNotNull('body')
      .select<StoredSegment[]>('id', tx.raw('day::text as day'), 'heads', 'body');
    const rows = segments.flatMap((segment) => rowsOf(segment, taskId));
    await tx.batchInsert('frames', rows, 500);
    await tx('segments')
      .whereIn(
        'id',
        segments.map(({ id }) => id),
      )
      .delete();
    await tx('ingests').where({ task_id: taskId }).update({ compact_at: null });
  });
}

function rowsOf({ day, heads: packed, body }: StoredSegment, taskId: string): object[] {
  const heads = decodeHeads(packed);
  const opened = openBody(body, heads);
  return heads.map(({ seq, attempt, position, frameTimeMs, width, height }, index) => {
    const objects = opened.objectsOf(index);
    const text = typeof objects === 'string' ? objects : toStored(objects);
    return { day, task_id: taskId, seq, attempt, position, frame_time_ms: frameTimeMs, width, height, objects: text };
  });
}
