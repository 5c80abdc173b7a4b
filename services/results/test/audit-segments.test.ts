import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Difference } from '@vision/contracts/audit';
import { testMetrics } from '@vision/shared/testing/metrics';
import { until } from '@vision/shared/testing/until';
import { formsOf, frame, mark, newTaskId, snapshot, startResults } from './support.ts';
import type { TestResults } from './support.ts';

const metrics = testMetrics();
// Commits on a busy machine take less than this: an audit never reads the same period twice.
const audits = { AUDIT_INTERVAL_MS: '100', AUDIT_AGE_MS: '3000' };
const forms = [
  { form: 'hot', settings: { SEGMENT_INTERVAL_MS: '600000' } },
  { form: 'cold', settings: { SEGMENT_YOUNG_MS: '0', SEGMENT_INTERVAL_MS: '20' } },
] as const;

describe.each(forms)('segments that are $form:', ({ form, settings }) => {
  let results: TestResults;
  beforeAll(async () => {
    results = await startResults({ ...audits, ...settings });
    await Promise.all([results.service.consumers.frames.joined, results.service.consumers.tasks.joined]);
  });
  afterAll(() => results.stop());

  const named = async (id: string) => {
    const answer = await results.call('GET', '/internal/v1/differences');
    return ((await answer.json()) as { items: Difference[] }).items.filter((difference) => difference.id === id);
  };
  const segmentsOf = (task: string) => results.database.db('segments').where({ task_id: task });

  /** Two segments: frames 0 and 1 of the first attempt, 2 and 3 of the second, which ended in order. */
  async function twoAttempts(): Promise<string> {
    const task = newTaskId();
    const end = mark(task, { attempt: 2, attempt_frames: { count: 2, first_seq: 2, last_seq: 3 } });
    await results.deliver([frame(task, 0), frame(task, 1)]);
    await settled(task, 2);
    await results.deliver([frame(task, 2, { attempt: 2 }), frame(task, 3, { attempt: 2 }), end]);
    await settled(task, 4);
    return task;
  }

  /** Waits until frames are moved: those of a running task wait for others, unless they have waited for long. */
  async function settled(task: string, frames: number): Promise<void> {
    await until(async () => (await formsOf(results.database.db, task))[form] === frames);
  }

  async function end(...tasks: string[]): Promise<void> {
    for (const task of tasks) {
      const facts = { version: 3, status: 'succeeded', ended_at: new Date().toISOString() } as const;
      await results.tell(snapshot(task, 'subject-a', facts));
    }
  }

  test('a segment whose index row is gone is reported; tasks in order are not', async () => {
    const [torn, whole] = [await twoAttempts(), await twoAttempts()];
    expect(await segmentsOf(torn).where({ first_seq: 0 }).delete()).toBe(1);
    await end(torn, whole);
    await until(async () => (await named(torn)).length === 1);
    expect(await named(torn)).toMatchObject([
      { kind: 'stored_frames', details: { task_id: torn, counted: 4, frames: 2, end_mark: true } },
    ]);
    expect(await named(whole)).toEqual([]);
  });

  test('a segment that counts other frames of the last attempt than its end-of-stream marker is reported', async () => {
    const [torn, whole] = [await twoAttempts(), await twoAttempts()];
    await segmentsOf(torn)
      .where({ first_seq: 2 })
      .update({ attempts: JSON.stringify({ 1: [1, 3, 3], 2: [1, 2, 2] }) });
    await end(torn, whole);
    await until(async () => (await named(torn)).length === 1);
    expect(await named(torn)).toMatchObject([
      {
        kind: 'stored_frames',
        details: {
          counted: 4,
          frames: 4,
          last_attempt: { count: 1, first: 2, last: 2 },
          marked: { count: 2, first: 2, last: 3 },
        },
      },
    ]);
    expect(await named(whole)).toEqual([]);
  });

  if (form === 'cold')
    test('a segment whose object is gone is reported until it is there again', async () => {
      const [torn, whole] = [await twoAttempts(), await twoAttempts()];
      const { s3, database } = results;
      const [key = ''] = (await s3.objects()).filter((name) => name.includes(torn));
      // The service would write the object again from its copy, which it checks every ten seconds.
      await database.db('segment_copies').delete();
      await s3.client.removeObject(s3.bucket, key);
      // As if it had been stored now, because each object is checked once.
      await database.db('segments').whereIn('task_id', [torn, whole]).update({ created_at: database.db.fn.now() });
      await until(async () => (await named(key)).length === 1);
      expect(await named(key)).toMatchObject([
        { kind: 'segment_missing', details: { task_id: torn, object_key: key } },
      ]);
      const gauge = () => metrics.sumOf('vision.audit.differences', { kind: 'segment_missing' });
      await until(async () => (await gauge()) === 1);
      await s3.client.putObject(s3.bucket, key, Buffer.alloc(1));
      await until(async () => (await named(key)).length === 0);
      await until(async () => (await gauge()) === 0);
    });
});
