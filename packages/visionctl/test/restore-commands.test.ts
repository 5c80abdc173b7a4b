import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startAdminDouble } from './support/admin-double.ts';
import type { AdminDouble } from './support/admin-double.ts';

let admin: AdminDouble;
beforeAll(async () => {
  admin = await startAdminDouble();
});
afterAll(() => admin.close());
beforeEach(() => {
  admin.asked.length = 0;
  admin.answers.length = 0;
});

test.each([
  [['bucket', 'adopt', 'images'], { service: 'images', decision: 'adopt' }],
  [['retention', 'resume', 'results'], { service: 'results', decision: 'resume' }],
])('%j takes the decision of an operator, with its reason', async (args, decision) => {
  admin.answers.push(decision);
  const { code, out } = await admin.visionctl(...args, '--reason', 'restored to 08:00');
  expect([code, out]).toEqual([0, expect.stringContaining(decision.decision)]);
  const line = 'POST /admin/v1/bucket/decisions';
  expect(admin.asked).toEqual([{ line, body: { ...decision, reason: 'restored to 08:00' } }]);
  expect((await admin.visionctl(...args)).code).not.toBe(0);
  expect((await admin.visionctl(args[0] ?? '', args[1] ?? '', 'quota', '--reason', 'r')).code).not.toBe(0);
  expect(admin.asked).toHaveLength(1);
});

const id = '01890000-0000-7000-8000-000000000000';
const job = { job_id: id, status: 'running', frames_published: 3 };

test('jobs unknown lists what runs without a task, over all pages', async () => {
  const running = { subject: 's', status: 'running', age_s: 3 };
  admin.answers.push(
    {
      items: [
        { job, task: running },
        { job: { ...job, job_id: 'ended' }, task: { ...running, status: 'stopped' } },
      ],
      next_cursor: id,
    },
    { items: [{ job: { ...job, job_id: 'lost' } }], next_cursor: '' },
  );
  const { code, out } = await admin.visionctl('jobs', 'unknown');
  expect(code).toBe(1);
  expect(out).toMatch(/ended +running +- +3 +stopped +s\n/);
  expect(out).toMatch(/lost +running +- +3 +unknown/);
  expect(out).not.toContain(id);
  expect(admin.asked.map(({ line }) => line)).toEqual([
    'GET /admin/v1/backend-jobs?limit=100',
    `GET /admin/v1/backend-jobs?after=${id}&limit=100`,
  ]);
});

test('a scan of the bucket goes through every page of every service, and fails when something is missing', async () => {
  const page = { checked: 2, missing: [], next_cursor: '' };
  const missing = [{ task_id: id, object_key: 'videos/x' }];
  admin.answers.push({ ...page, next_cursor: 'a' }, { ...page, missing }, page, page);
  const { code, out } = await admin.visionctl('bucket', 'scan');
  expect([code, out]).toEqual([1, expect.stringMatching(/8 objects, 1 missing\n.*\ntasks +\S+ +videos\/x/)]);
  expect(admin.asked.map(({ body }) => body)).toEqual([
    { service: 'tasks', after: '' },
    { service: 'tasks', after: 'a' },
    { service: 'images', after: '' },
    { service: 'results', after: '' },
  ]);
});

test('a job is stopped, a reservation ended and the audits run now, with a reason where something changes', async () => {
  admin.answers.push(job);
  expect((await admin.visionctl('jobs', 'stop', id, '--reason', 'lost')).code).toBe(0);
  admin.answers[0] = { reservation_id: `${id}/1`, subject: 's', units: 1, charged: 0 };
  expect((await admin.visionctl('quota', 'end', `${id}/1`, 'refund', '--reason', 'lost')).code).toBe(0);
  admin.answers[0] = { items: [], unreachable: [] };
  expect((await admin.visionctl('audit', '--now')).code).toBe(0);
  expect(admin.asked).toEqual([
    { line: `POST /admin/v1/backend-jobs/${id}/stop`, body: { reason: 'lost' } },
    {
      line: 'POST /admin/v1/quota/reservations/end',
      body: { reservation_id: `${id}/1`, outcome: 'refund', reason: 'lost' },
    },
    { line: 'GET /admin/v1/audit?limit=100', body: undefined },
    { line: 'POST /admin/v1/differences/run', body: undefined },
  ]);
});
