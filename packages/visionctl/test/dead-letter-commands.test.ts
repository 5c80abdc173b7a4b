import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startAdminDouble } from './support/admin-double.ts';
import type { AdminDouble } from './support/admin-double.ts';

let double: AdminDouble;
beforeAll(async () => {
  double = await startAdminDouble();
});
afterAll(() => double.close());
beforeEach(() => {
  double.answers.length = 0;
  double.asked.length = 0;
});

test('a dead letter is shown with why, where from, what is in it, and what to do', async () => {
  const letter = {
    topic: 'tasks',
    partition: 0,
    offset: 17,
    group: 'quota',
    reason: 'handler_failed',
    from_partition: 3,
    headers: { ce_type: 't', odd: 'a\u001bb' },
    payload: '{"task_id":"a\\u001b"}',
    payload_bytes: 90_000,
    is_cut: true,
  };
  double.answers.push(letter);
  const { code, out } = await double.visionctl('dlq', 'show', 'vision.tasks.v1', 'a/b');
  expect([code, double.asked[0]?.line]).toEqual([0, 'GET /admin/v1/dead-letters/tasks/records/a%2Fb']);
  for (const said of [
    /^reason +handler_failed$/m,
    /^from_partition +3$/m,
    /^ {2}odd +a\?b$/m,
    /^ {4}"task_id": "a\\u001b"$/m,
    /90000 bytes in all/,
    /log of the service of quota .* then: visionctl dlq replay tasks$/m,
  ])
    expect(out).toMatch(said);
  await double.visionctl('dlq', 'show', 'frames');
  expect(double.asked[1]?.line).toBe('GET /admin/v1/dead-letters/frames/records/newest');
  double.answers.splice(0, 1, { ...letter, reason: 'invalid_json' });
  expect((await double.visionctl('dlq', 'show', 'tasks', '--json')).out).toContain('leave it');
});

test('a replay goes on until there are no more records, or as many as were asked for', async () => {
  double.answers.push({ replayed: 500, is_done: false });
  const some = await double.visionctl('dlq', 'replay', 'frames', '--limit', '700');
  expect(some.out).toContain('1000 records were published to frames again.');
  expect(double.asked.map(({ line, body }) => [line, body])).toEqual([
    ['POST /admin/v1/dead-letters/frames/replay', { limit: 500 }],
    ['POST /admin/v1/dead-letters/frames/replay', { limit: 200 }],
  ]);
  double.answers.splice(0, 1, { replayed: 2, is_done: true });
  const all = await double.visionctl('dlq', 'replay', 'vision.tasks.v1', '--json');
  expect(JSON.parse(all.out)).toEqual({ topic: 'tasks', replayed: 2 });
});
