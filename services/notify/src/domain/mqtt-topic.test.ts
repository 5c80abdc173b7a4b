import { expect, test } from '@jest/globals';
import { TOPIC_PREFIX, topicOf } from './mqtt-topic.ts';

const topic = (data: object) => topicOf('home/vision', { type: 'alarm.opened', data: JSON.stringify(data) });

test('names the camera by its client_ref, else the task', () => {
  expect(topic({ alarm: { task_id: 'a-task', client_ref: 'yard' } })).toBe('home/vision/alarm.opened/yard');
  expect(topic({ alarm: { task_id: 'a-task' } })).toBe('home/vision/alarm.opened/a-task');
  expect(topic({ task: { task_id: 'a-task' }, client_ref: 'yard' })).toBe('home/vision/alarm.opened/yard');
  expect(topic({ endpoint_id: 'hook' })).toBe('home/vision/alarm.opened');
});

test('no part holds a wildcard or a separator, with any data', () => {
  expect(topic({ client_ref: '#/+/$SYS\u0000' })).toBe('home/vision/alarm.opened/_____SYS_');
  expect(topic({ client_ref: '' })).toBe('home/vision/alarm.opened/_');
});

test.each(['', '/', 'a/', '/a', 'a//b', 'a/#', '+', '$SYS/a', 'a b', 'a'.repeat(65), Array(9).fill('a').join('/')])(
  'refuses the prefix %j',
  (prefix) => expect(TOPIC_PREFIX.test(prefix)).toBe(false),
);

test.each(['vision', 'home/floor-1/cameras', Array(8).fill('a').join('/')])('takes the prefix %j', (prefix) =>
  expect(TOPIC_PREFIX.test(prefix)).toBe(true),
);
