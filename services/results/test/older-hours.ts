import type { Knex } from 'knex';
import { createdAtMsOf, dayOfTask } from '@vision/contracts/ids';
import { ByteWriter } from '@vision/contracts/segments/bytes';
import { pack } from '@vision/contracts/segments/pack';
import { findHours } from '../src/db/timeline-hours.ts';
import { putLabels } from '../src/domain/fold/count-codec.ts';
import { decodeTotals } from '../src/domain/fold/hour-codec.ts';

const HOUR_MS = 3_600_000;

/**
 * Rewrites the hours around the creation of a task in the form of the last release, whose rows have no frames and
 * seconds for the entire hour. Returns their number.
 */
export async function makeOlder(db: Knex, taskId: string): Promise<number> {
  const begin = Math.floor(createdAtMsOf(taskId) / HOUR_MS) * HOUR_MS;
  const around = [-1, 0, 1].map((hours) => begin + hours * HOUR_MS);
  const hours = await findHours(db, { day: dayOfTask(taskId) ?? '', taskId }, around);
  for (const hour of hours) {
    const labels = new ByteWriter();
    putLabels(labels, decodeTotals(hour).labels);
    const totals = pack(labels.written(), 'small');
    await db('timeline_hours').where({ task_id: taskId, hour_ms: hour.hourMs }).update({ totals });
  }
  return hours.length;
}
