import type { Knex } from 'knex';
import { alarmChanged } from '@vision/contracts/alarm-events';
import { crashPoint } from '@vision/shared/crash-point';
import { appendEvents } from '@vision/kafka/outbox';
import { alarmSnapshotOf } from '../domain/alarm-snapshot.ts';
import type { OpenJudging } from './open-judging.ts';

/** Appends the events of alarms that opened and closed, in the transaction that stores where their rules are. */
export async function announceAlarms(
  tx: Knex.Transaction,
  taskId: string,
  { judging, task, nowMs }: Pick<OpenJudging, 'judging' | 'task'> & { nowMs: number },
): Promise<void> {
  const { subject, clientRef, sceneCode, kind } = task;
  const alarmed = { taskId, subject, clientRef, sceneCode, isLive: kind === 'stream' };
  const events = judging.changes.map((change) => ({
    ...alarmChanged,
    key: taskId,
    source: 'results',
    data: alarmSnapshotOf(alarmed, change, nowMs),
  }));
  await appendEvents(tx, events);
  if (judging.changes.length > 0) crashPoint('results.alarms_appended');
}
