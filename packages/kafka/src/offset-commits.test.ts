import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import type { Consumer } from 'kafkajs';
import { createLogger } from '@vision/shared/logger';
import { until } from '@vision/shared/testing/until';
import { gatherCommits } from './offset-commits.ts';

const logger = createLogger('test', 'silent');

/** A consumer of which only commits and events are used. */
function recordingConsumer() {
  const events = new EventEmitter();
  const committed: unknown[] = [];
  const commitOffsets = (offsets: unknown) => Promise.resolve(void committed.push(offsets));
  const consumer = Object.assign(events, { commitOffsets }) as unknown as Consumer;
  return { consumer, committed, emit: (name: string) => events.emit(name) };
}

test('offsets of several partitions are committed together, the last of each', async () => {
  const { consumer, committed } = recordingConsumer();
  const commits = gatherCommits(consumer, logger);
  commits.note('a', 0, 5n);
  commits.note('a', 1, 3n);
  commits.note('a', 0, 7n);
  expect(committed).toEqual([]);
  await until(() => Promise.resolve(committed.length > 0));
  expect(committed).toEqual([
    [
      { topic: 'a', partition: 0, offset: '7' },
      { topic: 'a', partition: 1, offset: '3' },
    ],
  ]);
});

test('a stop commits what is noted, and everything that is handled until the end', async () => {
  const { consumer, committed } = recordingConsumer();
  const commits = gatherCommits(consumer, logger);
  commits.note('a', 0, 5n);
  await commits.finish();
  commits.note('a', 0, 6n);
  expect(committed).toEqual([[{ topic: 'a', partition: 0, offset: '5' }], [{ topic: 'a', partition: 0, offset: '6' }]]);
});

test.each(['consumer.group_join', 'consumer.crash'])('after %s no earlier offset is committed', async (happening) => {
  const { consumer, committed, emit } = recordingConsumer();
  const commits = gatherCommits(consumer, logger);
  commits.note('a', 0, 5n);
  emit(happening);
  await commits.finish();
  expect(committed).toEqual([]);
});
