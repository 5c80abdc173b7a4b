import { randomUUID } from 'node:crypto';
import { taskChanged } from '@vision/contracts/task-events';
import { topics } from '@vision/contracts/topics';
import { inTransaction } from '@vision/shared/db/transaction';
import { createProducer } from '@vision/kafka/producer';
import { testKafka } from '@vision/kafka/testing/kafka';
import { freePort } from '@vision/shared/testing/ports';
import { testToken } from '@vision/shared/testing/service-keys';
import { startMain, untilReady } from '@vision/shared/testing/service-process';
import { appendToLog } from '../../services/notify/src/db/event-log.ts';
import { migrations } from '../../services/notify/src/db/migrations/list.ts';
import { taskEvent } from '../../services/notify/src/domain/task-event.ts';
import { notifySettings, task } from '../../services/notify/test/support.ts';
import { scratchDatabase } from '../scratch-database.ts';

export interface NotifyProcess {
  /** Publishes the first version of a new task of a subject; returns its id. */
  publish: (subject: string) => Promise<string>;
  /** Adds events about new tasks to the log of a subject, as the process does with those that it consumes. */
  log: (subject: string, count: number) => Promise<void>;
  /** Creates or replaces the webhook endpoint of a subject. */
  put: (subject: string, url: string, enabled?: boolean) => Promise<void>;
  /** Sends every event of a subject that its endpoint was not delivered. */
  recover: (subject: string) => Promise<void>;
  stop: () => Promise<void>;
}

/** One process of notify as operators run it, on a database and topics of its own. */
export async function startNotifyProcess(): Promise<NotifyProcess> {
  const database = await scratchDatabase(migrations, 2);
  const kafka = await testKafka({ topics: [topics.tasks, topics.alarms, topics.rules] });
  const [port, healthPort] = [await freePort(), await freePort()];
  const running = startMain('notify', {
    ...notifySettings(database.url, kafka),
    PORT: String(port),
    HEALTH_PORT: String(healthPort),
    // Every receiver has an address of its own.
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    LOG_LEVEL: 'error',
  });
  const producer = createProducer(kafka.client);
  const call = async (method: string, subject: string, path: string, body: object) => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/vision/webhook-endpoints/hook${path}`, {
      method,
      headers: {
        authorization: `Bearer ${await testToken('gateway', 'notify', { subject })}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(await answer.text());
    await answer.arrayBuffer();
  };
  await untilReady(running, healthPort);
  return {
    publish: async (subject) => {
      const data = task({ subject });
      await producer.publish([{ ...taskChanged, key: data.task_id, source: 'tasks', data, id: randomUUID() }]);
      return data.task_id;
    },
    log: (subject, count) =>
      inTransaction(database.db, async (tx) => {
        for (let event = 0; event < count; event += 1) {
          const made = taskEvent(task({ subject }));
          if (made) await appendToLog(tx, made);
        }
      }),
    put: (subject, url, enabled = true) => call('PUT', subject, '', { url, enabled }),
    recover: (subject) => call('POST', subject, '/recover', { since_ms: 0 }),
    stop: async () => {
      await producer.stop();
      await running.stop();
      await kafka.close();
      await database.drop();
    },
  };
}
