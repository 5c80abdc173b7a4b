import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { ruleChanged } from '@vision/contracts/rule-events';
import { taskChanged } from '@vision/contracts/task-events';
import { newSubject, rule } from './alarm-world.ts';
import { newTaskId, snapshot, startResults, testResults } from './support.ts';
import { untilSettled } from '@vision/kafka/testing/settled';

test('a database that is empty gets the tasks and rules of all records that Kafka holds', async () => {
  const [first, empty] = await Promise.all([startResults(), testResults()]);
  try {
    const subject = newSubject();
    const task = snapshot(newTaskId(), subject);
    const taskRecord = (version: number) => ({
      ...taskChanged,
      key: task.task_id,
      source: 'tasks',
      data: { ...task, version },
      id: randomUUID(),
    });
    const ruleRecord = (rule_id: string) => ({
      ...ruleChanged,
      key: subject,
      source: 'notify',
      data: rule(subject, { rule_id }),
      id: randomUUID(),
    });
    const tell = async ({ service }: typeof first, asked: ReturnType<typeof taskRecord | typeof ruleRecord>) => {
      await first.producer.publish([asked]);
      const { tasks, rules } = service.consumers;
      return untilSettled(asked.topic === taskChanged.topic ? tasks : rules, asked.id);
    };
    await Promise.all([tell(first, taskRecord(1)), tell(first, ruleRecord('yard'))]);
    const { tasks, rules } = first.service.consumers;
    await Promise.all([tasks.stop(), rules.stop()]);

    const next = await startResults({ TOPIC_PREFIX: first.kafka.topicPrefix }, empty);
    try {
      // In the same partitions as the records that the group has handled before.
      const other = { ...taskRecord(1), data: { ...task, task_id: newTaskId() } };
      await Promise.all([tell(next, other), tell(next, ruleRecord('gate'))]);
      expect(await empty.db('task_views').where({ subject }).pluck('task_id')).toContain(task.task_id);
      expect(await empty.db('alarm_rules').where({ subject }).orderBy('rule_id').pluck('rule_id')).toEqual([
        'gate',
        'yard',
      ]);
    } finally {
      await next.stop();
    }
  } finally {
    await first.stop();
    await empty.drop();
  }
});
