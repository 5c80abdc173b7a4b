import { expect, test } from '@jest/globals';
import { fail } from '@vision/contracts/errors';
import type { OutgoingEvent } from '@vision/kafka/cloud-event';
import { createFrameGathering } from './frame-gathering.ts';

const event = (id: string, bytes = 10): OutgoingEvent => ({
  topic: 'frames',
  type: 'segment',
  key: id,
  source: 'test',
  id,
  data: Buffer.alloc(bytes),
});
const held = () => undefined;

/** A broker that takes requests, and refuses those with one of these events. */
function broker(refuses: readonly string[] = []) {
  const requests: string[][] = [];
  const publishBatch = async (events: OutgoingEvent[]) => {
    const ids = events.map(({ id = '' }) => id);
    requests.push(ids);
    if (ids.some((id) => refuses.includes(id))) throw new Error('a partition takes nothing');
  };
  const gathering = createFrameGathering({ producer: { publishBatch }, isOn: () => true, lingerMs: 20 });
  return { requests, gathering };
}

test('what several jobs publish when they depart is one request, in the order of each job', async () => {
  const { requests, gathering } = broker();
  const jobs = ['a', 'b', 'c'].map(async (job) => {
    await gathering.departure();
    await gathering.publish([event(`${job}1`), event(`${job}2`)], held);
  });
  await Promise.all(jobs);
  expect(requests).toEqual([['a1', 'a2', 'b1', 'b2', 'c1', 'c2']]);
});

test('a job that lost its hold between departure and request publishes nothing, and the others do', async () => {
  const { requests, gathering } = broker();
  const lost = gathering.publish([event('lost')], () => {
    throw new Error('the job belongs to another attempt');
  });
  const others = gathering.publish([event('held')], held);
  await expect(lost).rejects.toThrow('another attempt');
  await others;
  expect(requests).toEqual([['held']]);
});

test('requests are cut where they would be too large for a broker', async () => {
  const { requests, gathering } = broker();
  const large = 200 * 1024;
  await Promise.all(['a', 'b', 'c', 'd'].map((id) => gathering.publish([event(id, large)], held)));
  expect(requests).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
});

const outcomeOf = (publishing: Promise<void>) =>
  publishing.then(
    () => 'published',
    (error: unknown) => (error as Error).message,
  );

test('records that a broker refuses fail their own job only, and later ones go by themselves', async () => {
  const { requests, gathering } = broker(['bad']);
  const publish = (id: string) => outcomeOf(gathering.publish([event(id)], held));
  const outcomes = ['published', 'a partition takes nothing'];
  expect(await Promise.all([publish('good'), publish('bad')])).toEqual(outcomes);
  expect(await Promise.all([publish('good'), publish('bad')])).toEqual(outcomes);
  expect(requests).toEqual([['good', 'bad'], ['good'], ['bad'], ['good'], ['bad']]);
});

test('each job learns of an outage and waits for its end by itself', async () => {
  const away = fail.sysUnavailable('kafka_unavailable', new Error('no broker answers'));
  const publishBatch = () => Promise.reject(away);
  const gathering = createFrameGathering({ producer: { publishBatch }, isOn: () => true, lingerMs: 20 });
  const publish = (id: string) => gathering.publish([event(id)], held).catch((error: unknown) => error);
  expect(await Promise.all([publish('a'), publish('b')])).toEqual([away, away]);
});
