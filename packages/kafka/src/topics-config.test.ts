import { expect, test } from '@jest/globals';
import { topics } from '@vision/contracts/topics';
import { topicsSetting, wantedTopics } from './topics-config.ts';

const of = (declared: object | undefined, name: string) =>
  wantedTopics(declared && topicsSetting.parse(JSON.stringify(declared))).find((topic) => topic.name === name);

test('topics that are not declared get their partitions when they are created, and no more later', () => {
  const common = { retentionMs: 604_800_000, addPartitions: false };
  expect(of(undefined, topics.frames)).toEqual({ name: 'vision.frames.v1', partitions: 96, ...common });
  expect(of({ default: { replicationFactor: 3 } }, topics.tasks)).toEqual({
    name: 'vision.tasks.v1',
    partitions: 6,
    replicationFactor: 3,
    ...common,
  });
});

test('what is declared for one topic wins over what is declared for all', () => {
  const declared = {
    default: { partitions: 12, replicationFactor: 3 },
    frames: { partitions: 48, minInsyncReplicas: 2 },
  };
  expect(of(declared, topics.tasks)).toMatchObject({ partitions: 12, addPartitions: true, replicationFactor: 3 });
  expect(of(declared, topics.frames)).toMatchObject({ partitions: 48, replicationFactor: 3, minInsyncReplicas: 2 });
});

test('dead letters are as safe as their topic and keep their own size', () => {
  const declared = { default: { partitions: 12, replicationFactor: 3, retentionMs: 3_600_000 } };
  expect(of(declared, 'vision.frames.v1.dlq')).toMatchObject({
    partitions: 1,
    replicationFactor: 3,
    retentionMs: 2_592_000_000,
  });
});

test('dead letter topics take records that fill their topic, with the headers of the reason', () => {
  expect(of(undefined, 'vision.tasks.v1.dlq')?.minMessageBytes).toBeGreaterThan(1_048_588 + 65_536);
  expect(of(undefined, topics.tasks)?.minMessageBytes).toBeUndefined();
});

test.each([
  ['no JSON', '{', 'Invalid input'],
  ['a topic that there is not', '{"frame":{}}', 'Unrecognized key: "frame"'],
  ['a number in words', '{"frames":{"partitions":"6"}}', 'frames.partitions: Invalid input: expected number'],
  [
    'more in sync than there are',
    '{"frames":{"replicationFactor":2,"minInsyncReplicas":3}}',
    'frames: minInsyncReplicas 3',
  ],
])('%s is refused', (_what, text, message) => {
  const { error } = topicsSetting.safeParse(text);
  expect(error?.issues.map((issue) => issue.message).join()).toContain(message);
});
