import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { ruleWhen } from '@vision/contracts/alarm-rules';
import type { AlarmSnapshot } from '@vision/contracts/alarm-events';
import type { FrameData } from '@vision/contracts/frame-events';
import type { RuleSnapshot } from '@vision/contracts/rule-events';
import { topics } from '@vision/contracts/topics';
import { frame, object } from './support.ts';

/** A rule that raises an alarm for a person. */
export const rule = (subject: string, facts: Partial<Omit<RuleSnapshot, 'when'>> & { when?: unknown } = {}) => {
  const { when = { kind: 'object_present', labels: ['person'], clear_ms: 1000 }, ...rest } = facts;
  return {
    subject,
    rule_id: 'yard',
    version: 1,
    deleted: false,
    enabled: true,
    min_interval_ms: 0,
    updated_at: new Date().toISOString(),
    ...rest,
    when: ruleWhen.parse(when),
  } satisfies RuleSnapshot;
};

/** Published alarms of a task, in their order. */
export async function alarmsOf(db: Knex, taskId: string): Promise<AlarmSnapshot[]> {
  const rows = await db('outbox')
    .where({ topic: topics.alarms, key: taskId })
    .orderBy('id')
    .select<{ payload: AlarmSnapshot }[]>('payload');
  return rows.map(({ payload }) => payload);
}

/** Rule, state and times of alarms. */
export const shortly = (alarms: readonly AlarmSnapshot[]) =>
  alarms.map(({ rule_id: id, state, opened_ms: opened, closed_ms: closed, closed_by: by }) =>
    state === 'open' ? [id, 'open', opened] : [id, by, opened, closed],
  );

/** Five frames a second, with a person in the listed seconds. */
export const visits = (taskId: string, [from, to]: [number, number], seconds: number[], startMs = 0): FrameData[] =>
  Array.from({ length: (to - from) * 5 }, (_, index) => {
    const seq = from * 5 + index;
    const isVisited = seconds.includes(Math.floor(seq / 5));
    const objects = isVisited ? [{ ...object(0.9), track_id: 'a1-1' }] : [];
    return frame(taskId, seq, { frame_time_ms: startMs + seq * 200, is_live: startMs > 0, objects });
  });

export const newSubject = () => `subject-${randomUUID()}`;
