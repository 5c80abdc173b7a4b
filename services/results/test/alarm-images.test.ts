import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { snapshotTaken } from '@vision/contracts/job-events';
import { ruleChanged } from '@vision/contracts/rule-events';
import { trackSnapshotKey } from '@vision/contracts/track-snapshots';
import { until } from '@vision/shared/testing/until';
import { alarmsOf, newSubject, rule, visits } from './alarm-world.ts';
import { newTaskId, object, snapshot, startResults } from './support.ts';
import type { TestResults } from './support.ts';
import { untilSettled } from '@vision/kafka/testing/settled';

let results: TestResults;
beforeAll(async () => {
  results = await startResults();
  await Promise.all([results.service.consumers.rules.joined, results.service.consumers.jobs.joined]);
});
afterAll(() => results.stop());

/** Adds a task of a subject with an alarm rule for persons. */
async function taskWithRules(facts: Parameters<typeof snapshot>[2] = { snapshots: 'tracks' }): Promise<string> {
  const [subject, id] = [newSubject(), randomUUID()];
  await results.producer.publish([{ ...ruleChanged, key: subject, source: 'notify', data: rule(subject), id }]);
  await untilSettled(results.service.consumers.rules, id);
  // Created after its rule, so it is evaluated from its first frame at any time of its first fold.
  const taskId = newTaskId();
  await results.tell(snapshot(taskId, subject, facts));
  return taskId;
}

/** Publishes that an image of the person is stored. */
async function takeImage(taskId: string, n = 1): Promise<void> {
  const own = `track-snapshots/of-${randomUUID()}/`;
  const id = randomUUID();
  const data = {
    job_id: taskId,
    attempt: 1,
    track_id: 'a1-1',
    n,
    seq: 5 + n,
    frame_time_ms: (5 + n) * 200,
    score: 0.9,
    bbox: object(0.9).bbox,
    object_key: trackSnapshotKey(own, { taskId, trackId: 'a1-1' }, `${n}x0`) ?? '',
    width: 64,
    height: 128,
    bytes: 10,
  };
  await results.producer.publish([{ ...snapshotTaken, key: taskId, source: 'inference', data, id }]);
  expect(await untilSettled(results.service.consumers.jobs, id)).toBe('handled');
}

const versionsOf = async (taskId: string) =>
  (await alarmsOf(results.database.db, taskId)).map(({ version, state, snapshot: image }) => [
    version,
    state,
    image?.state,
    image?.frame_time_ms,
  ]);
const setAge = (taskId: string, age: string) => {
  const { db } = results.database;
  const announcedAt = db.raw('vision_now() - ?::interval', [age]);
  return db('alarm_images').where({ task_id: taskId }).update({ announced_at: announcedAt });
};
const retain = async () => {
  const answer = await results.call('POST', '/internal/v1/retention/run');
  expect(answer.status).toBe(200);
};
const untilThere = (taskId: string, versions: number) =>
  until(async () => (await versionsOf(taskId)).length === versions);

test('an alarm is announced at once, and again when the image of its object is stored', async () => {
  const taskId = await taskWithRules();
  await results.deliver(visits(taskId, [0, 2], [1]));
  await untilThere(taskId, 1);
  await takeImage(taskId);
  await takeImage(taskId, 2);
  await results.deliver(visits(taskId, [2, 6], []));
  await untilThere(taskId, 3);
  expect(await versionsOf(taskId)).toEqual([
    [1, 'open', 'pending', undefined],
    [2, 'open', 'available', 1200],
    [3, 'closed', 'available', 1400],
  ]);
  const path = `/v1/vision/tasks/${taskId}/tracks/a1-1/snapshot`;
  for (const { snapshot: image } of await alarmsOf(results.database.db, taskId)) expect(image).toMatchObject({ path });
});

test('an alarm that closed before its image was stored is announced again, as closed', async () => {
  const taskId = await taskWithRules();
  await results.deliver(visits(taskId, [0, 6], [1]));
  await untilThere(taskId, 2);
  await takeImage(taskId);
  await untilThere(taskId, 3);
  expect(await versionsOf(taskId)).toEqual([
    [1, 'open', 'pending', undefined],
    [3, 'closed', 'pending', undefined],
    [4, 'closed', 'available', 1200],
  ]);
});

test('an alarm on an object that has an image says so when it opens', async () => {
  const taskId = await taskWithRules();
  await takeImage(taskId);
  await results.deliver(visits(taskId, [0, 6], [1]));
  await untilThere(taskId, 2);
  expect((await versionsOf(taskId)).map(([version, , state]) => [version, state])).toEqual([
    [1, 'available'],
    [3, 'available'],
  ]);
});

test('alarms of a task without images wait for none, and a deleted task has none that waits', async () => {
  const [off, deleted] = [await taskWithRules({ snapshots: 'off' }), await taskWithRules()];
  await results.deliver([...visits(off, [0, 6], [1]), ...visits(deleted, [0, 6], [1])]);
  for (const taskId of [off, deleted]) await untilThere(taskId, 2);
  expect((await versionsOf(off)).map(([, , state]) => state)).toEqual(['off', 'off']);
  const waiting = () => results.database.db('alarm_images').whereIn('task_id', [off, deleted]);
  expect(await waiting()).toHaveLength(1);
  const answer = await results.ask('/internal/v1/deleted-tasks', { task_ids: [deleted] });
  expect(await answer.json()).toEqual({ task_ids: [deleted] });
  expect(await waiting()).toEqual([]);
});

test('retention removes alarms that have waited for an image for more than a day', async () => {
  const [waiting, late] = [await taskWithRules(), await taskWithRules()];
  await results.deliver([...visits(waiting, [0, 2], [1]), ...visits(late, [0, 2], [1])]);
  for (const taskId of [waiting, late]) await untilThere(taskId, 1);
  await setAge(late, '25 hours');
  await retain();
  for (const taskId of [waiting, late]) await takeImage(taskId);
  expect((await versionsOf(waiting)).map(([version]) => version)).toEqual([1, 2]);
  expect((await versionsOf(late)).map(([version]) => version)).toEqual([1]);
});

test('an alarm that is announced again waits for its image for a day from then on', async () => {
  const taskId = await taskWithRules();
  await results.deliver(visits(taskId, [0, 2], [1]));
  await untilThere(taskId, 1);
  await setAge(taskId, '25 hours');
  await results.deliver(visits(taskId, [2, 6], []));
  await untilThere(taskId, 2);
  await retain();
  await takeImage(taskId);
  expect((await versionsOf(taskId)).map(([version]) => version)).toEqual([1, 3, 4]);
});
