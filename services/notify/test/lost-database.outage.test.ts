import { expect, test } from '@jest/globals';
import { rememberTables } from '@vision/shared/testing/lost-commits';
import { startNotify, task } from './support.ts';

const tables = ['subject_logs', 'events', 'task_states', 'consumer_positions'];

test('a database that is empty gets the events of all records that Kafka holds', async () => {
  const notify = await startNotify();
  try {
    const empty = await rememberTables(notify.database.db, tables);
    const running = task();
    await notify.tell(running);
    await notify.halt();
    await empty();
    const next = await startNotify({}, notify);
    try {
      // Of the same task, so in the same partition.
      await next.tell({ ...running, version: 2, status: 'failed', reason: 'timeout' });
      expect((await next.page()).items.map(({ type }) => type)).toEqual(['task.running', 'task.failed']);
    } finally {
      await next.stop();
    }
  } finally {
    await notify.stop();
  }
});
