import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createVisionClient } from '@vision/client';
import { topics } from '@vision/contracts/topics';
import { testKafka } from '@vision/kafka/testing/kafka';
import type { TestKafka } from '@vision/kafka/testing/kafka';
import { freePort } from '@vision/shared/testing/ports';
import { startReplaceable } from '@vision/shared/testing/service-process';
import type { ReplaceableProcess } from '@vision/shared/testing/service-process';
import { testToken } from '@vision/shared/testing/service-keys';
import { startNotify, task } from './support.ts';
import type { TestNotify } from './support.ts';
import { newSubject } from './webhook-support.ts';

/** Logs the events. Another process answers, with topics of its own, and is replaced. */
let notify: TestNotify;
let kafka: TestKafka;
let env: Record<string, string>;
let replica: ReplaceableProcess;

beforeAll(async () => {
  notify = await startNotify();
  kafka = await testKafka({ topics: [topics.tasks, topics.alarms, topics.rules] });
  const [port, healthPort] = [String(await freePort()), String(await freePort())];
  env = { ...notify.env, PORT: port, HEALTH_PORT: healthPort, TOPIC_PREFIX: kafka.topicPrefix };
  replica = await startReplaceable('notify', env);
});
afterAll(async () => {
  await replica.stop();
  await notify.stop();
  await kafka.close();
});

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'a reader whose replica ends by %s has every event once, those of the time between included',
  async (signal) => {
    const subject = newSubject();
    const log = (count: number) => notify.tell(...Array.from({ length: count }, () => task({ subject })));
    await log(20);
    const { resume_cursor: cursor } = await notify.page('?order=newest&limit=1', subject);
    await log(10);
    const client = createVisionClient({
      baseUrl: `http://127.0.0.1:${env['PORT'] ?? ''}`,
      apiKey: await testToken('gateway', 'notify', { subject }),
    });
    const seen: string[] = [];
    for await (const { event_id: id } of client.events({ cursor })) {
      seen.push(id);
      if (seen.length === 5) {
        const replaced = replica.replace(signal);
        await log(10);
        await replaced;
        await log(10);
      }
      if (seen.length === 30) break;
    }
    const { items } = await notify.page('?limit=100', subject);
    expect(seen).toEqual(items.slice(20).map(({ event_id: id }) => id));
  },
);
