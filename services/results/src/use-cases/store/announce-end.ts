import type { Knex } from 'knex';
import type { JobEndedData } from '@vision/contracts/frame-events';
import { taskResultsCompleted } from '@vision/contracts/task-events';
import { appendEvent } from '@vision/kafka/outbox';
import type { Ingest } from '../../domain/plan-storing.ts';

/** Announces that an end-of-stream marker applies, in the transaction that applies it. */
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
