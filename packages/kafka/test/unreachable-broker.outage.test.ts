import { afterAll, expect, test } from '@jest/globals';
import { createLogger } from '@vision/shared/logger';
import { freePort } from '@vision/shared/testing/ports';
import { recordSpans } from '@vision/shared/testing/recorded-spans';
import { factsOf } from '@vision/shared/upstream/upstream-facts';
import { ANSWER_MS, createKafka } from '../src/kafka.ts';
import { createProducer } from '../src/producer.ts';

const recorded = recordSpans();
afterAll(() => recorded.stop());
const told = (name: string) => recorded.spans().find((span) => span.name === name)?.attributes;

test('a broker that is not there', async () => {
  const kafka = createKafka({
    brokers: [`127.0.0.1:${await freePort()}`],
    clientId: 'spans',
    logger: createLogger('spans', 'silent'),
    tries: 1,
  });
  const producer = createProducer(kafka);
  const event = { topic: 'things', key: 'k', type: 'thing', id: '1', source: 'test', time: new Date(), data: {} };
  const publishing = recorded.inRequest(() => producer.publish([event as never]));
  const error: unknown = await publishing.catch((thrown: unknown) => thrown);
  expect(told('kafka send')).toMatchObject({ 'app.upstream.name': 'kafka', 'error.type': 'connect_failed' });
  const ofEvent = { 'app.upstream.name': 'kafka', 'error.type': 'connect_failed', 'app.timeout.limit_ms': ANSWER_MS };
  expect(told('send things')).toMatchObject(ofEvent);
  expect(factsOf(error)).toMatchObject({ name: 'kafka', error_type: 'connect_failed' });
  await producer.stop();
});
