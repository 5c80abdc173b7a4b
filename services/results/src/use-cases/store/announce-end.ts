import type { Knex } from 'knex';
import type { JobEndedData } from '@vision/contracts/frame-events';
import { taskResultsCompleted } from '@vision/contracts/task-events';
import { appendEvent } from '@vision/kafka/outbox';
import type { Ingest } from '../../domain/plan-storing.ts';

/** Tells that an end mark is in force, in the transaction that brings it into force. */
export async function announceEnd(tx: Knex.Transaction, ingest: Ingest, end: JobEndedData): Promise<void> {
  await appendEvent(tx, {
    ...taskResultsCompleted,
    key: ingest.task_id,
    source: 'results',
    data: {
      task_id: ingest.task_id,
      attempt: end.attempt,
      status: end.status,
      frames_stored: ingest.stored,
      error: end.error,
    },
  });
}
