import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ruleChanged } from '@vision/contracts/rule-events';
import type { RuleSnapshot } from '@vision/contracts/rule-events';
import { alarmChanged } from '@vision/contracts/alarm-events';
import { topics } from '@vision/contracts/topics';
import { createConsumer } from '@vision/kafka/consumer';
import { on } from '@vision/kafka/subscription';
import { testMetrics } from '@vision/shared/testing/metrics';
import { until } from '@vision/shared/testing/until';
import { alarmsOf, newSubject, rule, shortly, visits } from './alarm-world.ts';
import { frame, internalTask, logger, mark, newTaskId, object, snapshot, startResults, taskIdAt } from './support.ts';
import type { TestResults } from './support.ts';
import { untilSettled } from '@vision/kafka/testing/settled';

const metrics = testMetrics();
let results: TestResults;
beforeAll(async () => {
  results = await startResults();
  await results.service.consumers.rules.joined;
});
afterAll(() => results.stop());

const MINUTE = 60_000;

async function tell(data: RuleSnapshot | object): Promise<unknown> {
  const id = randomUUID();
  const headers = { ce_id: id, ce_type: ruleChanged.type, ce_source: 'notify', ce_specversion: '1.0' };
  const key = 'subject' in data ? data.subject : 'nobody';
  await results.producer.publishRaw([{ topic: topics.rules, key, value: JSON.stringify(data), headers }]);
  return untilSettled(results.service.consumers.rules, id);
}

/** A task of a subject that has these rules. */
async function taskWithRules(
  rules: Parameters<typeof rule>[1][],
  facts: Parameters<typeof snapshot>[2] = {},
): Promise<{ subject: string; taskId: string }> {
  const subject = newSubject();
  for (const facts of rules) expect(await tell(rule(subject, facts))).toBe('handled');
  const taskId = newTaskId();
  await results.tell(snapshot(taskId, subject, facts));
  return { subject, taskId };
}

const alarms = (taskId: string) => alarmsOf(results.database.db, taskId);

/** Waits until every stored frame of a task is folded and its rules were read. */
async function evaluated(taskId: string): Promise<void> {
  const { db } = results.database;
  await db('ingests')
    .where({ task_id: taskId })
    .update({ fold_at: db.raw('now()') });
  await until(async () => {
    const { rows } = await db.raw<{ rows: [{ isEvaluated: boolean } | undefined] }>(
      `select i.position = coalesce(f.position, 0) and (i.rule_set is null or i.rule_set >= 0)
              and (i.fold_at is null or i.fold_at > now()) as "isEvaluated"
         from ingests as i left join folds as f on f.task_id = i.task_id where i.task_id = ?`,
      [taskId],
    );
    return rows[0]?.isEvaluated === true;
  });
}

test('publishes an alarm as it opens and as it closes, with what raised it', async () => {
  const { subject, taskId } = await taskWithRules([{}], { client_ref: 'yard-north' });
  const received: unknown[] = [];
  const consumer = createConsumer({
    db: results.database.db,
    kafka: results.kafka.client,
    groupId: 'alarms-test',
    subscriptions: [
      on(alarmChanged, async ({ data }, { transaction }) => {
        if (data.task_id === taskId) received.push(data);
        await transaction(() => Promise.resolve());
      }),
    ],
    onFatal: (error) => logger.fatal(error),
  });
  consumer.start();
  try {
    await results.deliver(visits(taskId, [0, 6], [1, 2]));
    await until(() => received.length === 2);
  } finally {
    await consumer.stop(10_000);
  }
  const alarm = {
    version: 1,
    subject,
    rule_id: 'yard',
    rule_version: 1,
    kind: 'object_present',
    task_id: taskId,
    client_ref: 'yard-north',
    scene_code: 'person_vehicle',
    is_live: false,
    state: 'open',
    opened_ms: 1000,
    suppressed: 0,
    evidence: { frame_id: `${taskId}-5`, frame_time_ms: 1000, count: 1, held_ms: 0 },
    labels: ['person'],
    count_max: 1,
    track_ids: ['a1-1'],
  };
  expect(received[0]).toMatchObject(alarm);
  expect(received[1]).toMatchObject({ ...alarm, version: 3, state: 'closed', closed_ms: 4000, closed_by: 'cleared' });
});

test('an alarm opens with the batch that has its frame, long before the fold is due', async () => {
  const { taskId } = await taskWithRules([{}]);
  const { db } = results.database;
  await results.deliver(visits(taskId, [0, 1], []));
  await evaluated(taskId);
  await db('ingests')
    .where({ task_id: taskId })
    .update({ fold_at: db.raw(`now() + interval '1 hour'`) });
  for (const second of [1, 2, 3]) await results.deliver(visits(taskId, [second, second + 1], [3]));
  await until(async () => (await alarms(taskId)).length === 1);
  expect(shortly(await alarms(taskId))).toEqual([['yard', 'open', 3000]]);
});

test('a task has the rules whose scope names it', async () => {
  const other = newTaskId();
  const { taskId } = await taskWithRules(
    [
      { rule_id: 'all' },
      { rule_id: 'by-name', scope: { client_refs: ['gate', 'yard'] } },
      { rule_id: 'elsewhere', scope: { client_refs: ['roof'], task_ids: [other] } },
      { rule_id: 'off', enabled: false },
      { rule_id: 'gone', deleted: true },
    ],
    { client_ref: 'yard' },
  );
  await results.deliver(visits(taskId, [0, 1], [0]));
  await evaluated(taskId);
  expect((await alarms(taskId)).map(({ rule_id: id }) => id)).toEqual(['all', 'by-name']);
});

test('a changed rule closes the alarm of its old version and is evaluated by the new one', async () => {
  const { subject, taskId } = await taskWithRules([{}]);
  await results.deliver(visits(taskId, [0, 2], [1]));
  await until(async () => (await alarms(taskId)).length === 1);
  await tell(rule(subject, { version: 3, when: { kind: 'object_present', labels: ['car'], clear_ms: 1000 } }));
  await until(async () => (await alarms(taskId)).length === 2);
  // An older version that arrives late changes nothing.
  expect(await tell(rule(subject, { version: 2 }))).toBe('handled');
  await results.deliver(visits(taskId, [2, 4], [2, 3]));
  await evaluated(taskId);
  expect(shortly(await alarms(taskId))).toEqual([
    ['yard', 'open', 1000],
    ['yard', 'rule', 1000, 1800],
  ]);
});

test.each([
  ['deleted', { deleted: true }],
  ['disabled', { enabled: false }],
])('a rule that is %s closes its alarm and raises no other', async (_what, facts) => {
  const { subject, taskId } = await taskWithRules([{}]);
  await results.deliver(visits(taskId, [0, 1], [0]));
  await until(async () => (await alarms(taskId)).length === 1);
  await tell(rule(subject, { version: 2, ...facts }));
  await until(async () => (await alarms(taskId)).length === 2);
  await results.deliver(visits(taskId, [1, 4], [3]));
  await evaluated(taskId);
  expect(shortly(await alarms(taskId))).toEqual([
    ['yard', 'open', 0],
    ['yard', 'rule', 0, 800],
  ]);
});

test('a new rule is evaluated on frames that are stored after it, in running tasks only', async () => {
  const subject = newSubject();
  const [running, over] = [newTaskId(), newTaskId()];
  for (const taskId of [running, over]) {
    await results.tell(snapshot(taskId, subject));
    await results.deliver(visits(taskId, [0, 2], [0, 1]));
  }
  const end = { status: 'succeeded' as const, version: 2, ended_at: new Date(Date.now() - MINUTE).toISOString() };
  await results.deliver([mark(over)]);
  await results.tell(snapshot(over, subject, end));
  await tell(rule(subject));
  await tell(rule(subject, { rule_id: 'end', when: { kind: 'task_ended', statuses: ['succeeded'] } }));
  await Promise.all([evaluated(running), evaluated(over)]);
  expect(await alarms(running)).toEqual([]);
  await results.deliver(visits(running, [2, 3], [2]));
  await until(async () => (await alarms(running)).length === 1);
  expect(shortly(await alarms(running))).toEqual([['yard', 'open', 2000]]);
  expect(await alarms(over)).toEqual([]);
});

test('the end of a task closes its alarms and raises that of the rule that waits for it, once', async () => {
  const ended = { rule_id: 'end', when: { kind: 'task_ended', statuses: ['failed'] } };
  const { subject, taskId } = await taskWithRules([{}, ended]);
  await results.deliver([...visits(taskId, [0, 2], [1]), mark(taskId, { status: 'failed' })]);
  const failed = snapshot(taskId, subject, { version: 2, status: 'failed', ended_at: new Date().toISOString() });
  await results.tell(failed);
  await until(async () => (await alarms(taskId)).length === 4);
  await results.tell({ ...failed, version: 3 });
  await evaluated(taskId);
  expect(shortly(await alarms(taskId))).toEqual([
    ['yard', 'open', 1000],
    ['end', 'open', 1800],
    ['end', 'task_end', 1800, 1800],
    ['yard', 'task_end', 1000, 1800],
  ]);
});

test('a task that fails without a frame raises its alarm', async () => {
  const { subject, taskId } = await taskWithRules([{ when: { kind: 'task_ended' } }], { kind: 'stream' });
  const endedAt = new Date();
  await results.tell(
    snapshot(taskId, subject, { kind: 'stream', version: 2, status: 'failed', ended_at: endedAt.toISOString() }),
  );
  await until(async () => (await alarms(taskId)).length === 2);
  expect((await alarms(taskId))[0]).toMatchObject({
    kind: 'task_ended',
    opened_ms: endedAt.getTime(),
    is_live: true,
    evidence: { status: 'failed', objects: [] },
  });
});

test('the end of a task whose kind had to be asked for raises its alarm once the kind is known', async () => {
  const { subject, taskId } = await taskWithRules([{ when: { kind: 'task_ended' } }], { kind: 'stream' });
  await evaluated(taskId);
  const { db } = results.database;
  // As an earlier release stored it: its end was not evaluated, and no fold is planned.
  const ended_at = new Date().toISOString();
  await db('task_views').where({ task_id: taskId }).update({ kind: null, status: 'failed', ended_at, version: 2 });
  await db('ingests').where({ task_id: taskId }).update({ fold_at: null });
  expect(await alarms(taskId)).toEqual([]);
  const told = snapshot(taskId, subject, { kind: 'stream', version: 2, status: 'failed', ended_at });
  results.tasks.answers.set(`/internal/v1/tasks/${taskId}`, { status: 200, body: internalTask(told) });
  expect((await results.get(`/v1/vision/tasks/${taskId}/source`, subject)).status).toBe(200);
  await until(async () => (await alarms(taskId)).length === 2);
  expect((await alarms(taskId))[0]).toMatchObject({ kind: 'task_ended', evidence: { status: 'failed' } });
});

test('a silent stream is down, and up again with its next frame', async () => {
  const { taskId } = await taskWithRules([{ when: { kind: 'source_down', for_ms: 5000 } }], { kind: 'stream' });
  const startMs = Date.now() - MINUTE;
  await results.deliver(visits(taskId, [0, 2], [], startMs));
  const lastMs = startMs + 1800;
  await evaluated(taskId);
  await until(async () => (await alarms(taskId)).length === 1);
  const next = frame(taskId, 20, { frame_time_ms: Date.now(), is_live: true, objects: [] });
  await results.deliver([next]);
  await evaluated(taskId);
  expect(shortly(await alarms(taskId))).toEqual([
    ['yard', 'open', lastMs + 5000],
    ['yard', 'cleared', lastMs + 5000, next.frame_time_ms],
  ]);
});

test('a camera that never sent a frame is down', async () => {
  const subject = newSubject();
  await tell(rule(subject, { when: { kind: 'source_down', for_ms: 5000 } }));
  const taskId = taskIdAt(Date.now() - MINUTE);
  await results.tell(snapshot(taskId, subject, { kind: 'stream' }));
  await until(async () => (await alarms(taskId)).length === 1);
  expect((await alarms(taskId))[0]).toMatchObject({ kind: 'source_down', state: 'open', evidence: { objects: [] } });
});

test('nothing more is published of a task that its owner deleted', async () => {
  const { taskId } = await taskWithRules([{}]);
  await results.deliver(visits(taskId, [0, 1], [0]));
  await until(async () => (await alarms(taskId)).length === 1);
  await results.ask('/internal/v1/deleted-tasks', { task_ids: [taskId] });
  await results.deliver(visits(taskId, [1, 4], [3]));
  expect(await results.database.db('folds').where({ task_id: taskId })).toEqual([]);
  expect(shortly(await alarms(taskId))).toEqual([['yard', 'open', 0]]);
});

const gate = {
  kind: 'line_crossed',
  labels: ['person'],
  line: [
    [0.5, 0],
    [0.5, 1],
  ],
  anchor: 'center',
};

/** Ten people in two frames before the line, then in two frames beyond it. */
function crowd(taskId: string, seq: number, timeMs: number) {
  const { bbox, ...person } = object(0.9);
  const cx = seq % 4 < 2 ? 0.4 : 0.6;
  const objects = Array.from({ length: 10 }, (_, at) => ({ ...person, track_id: `a1-${at}`, bbox: { ...bbox, cx } }));
  return frame(taskId, seq, { frame_time_ms: timeMs, is_live: true, objects });
}

test('a crowd at a line raises 60 alarms a minute, and the crossings that are left out are counted', async () => {
  const { taskId } = await taskWithRules([{ when: gate }], { kind: 'stream' });
  const startMs = Math.floor(Date.now() / MINUTE) * MINUTE - 5 * MINUTE;
  await results.deliver(Array.from({ length: 20 }, (_, seq) => crowd(taskId, seq, startMs + seq * 200)));
  await evaluated(taskId);
  expect((await alarms(taskId)).filter(({ state }) => state === 'open')).toHaveLength(60);
  // Counted when the transaction of the fold has ended.
  await until(async () => (await metrics.sumOf('vision.results.crossings_left_out')) === 30);
});

test('frames of a stream that are older than those before them are counted once', async () => {
  const { taskId } = await taskWithRules([{ when: gate }], { kind: 'stream' });
  const startMs = Date.now() - 5 * MINUTE;
  const before = (await metrics.sumOf('vision.results.clock_set_backs')) ?? 0;
  await results.deliver([0, 1, 2].map((seq) => crowd(taskId, seq, startMs + seq * 200)));
  await evaluated(taskId);
  await results.deliver([3, 4, 5].map((seq) => crowd(taskId, seq, startMs - 10_000 + seq * 200)));
  await evaluated(taskId);
  await until(async () => (await metrics.sumOf('vision.results.clock_set_backs')) === before + 1);
});

test('a late frame raises nothing', async () => {
  const { taskId } = await taskWithRules([{}]);
  const frames = visits(taskId, [0, 3], [1]);
  await results.deliver(frames.filter(({ objects }) => objects.length === 0));
  await evaluated(taskId);
  await results.deliver(frames.filter(({ objects }) => objects.length > 0));
  await evaluated(taskId);
  expect(await alarms(taskId)).toEqual([]);
});

test('a track that no database takes is left out of what is published', async () => {
  const subject = newSubject();
  await tell(rule(subject));
  const hostile = newTaskId();
  await results.tell(snapshot(hostile, subject));
  const [seen] = visits(hostile, [0, 1], [0]);
  const objects = (seen?.objects ?? []).map((one) => ({ ...one, track_id: `per\0son\ud800${'7'.repeat(999)}` }));
  await results.deliver([frame(hostile, 0, { objects })]);
  await until(async () => (await alarms(hostile)).length === 1);
  expect((await alarms(hostile))[0]).toMatchObject({ labels: ['person'], track_ids: [] });
});

test.each([
  ['a condition of a later release', { when: { kind: 'object_present', labels: ['person'], colour: 'red' } }],
  ['a zone that does not exist', { schedule: { time_zone: 'Mars/X', windows: [] } }],
  ['no version', { version: undefined }],
])('puts a rule with %s aside and goes on', async (_what, facts) => {
  const subject = newSubject();
  expect(await tell({ ...rule(subject), ...facts })).toBe('dead-lettered');
  expect(await tell(rule(subject))).toBe('handled');
});
