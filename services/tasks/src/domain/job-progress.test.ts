import { expect, test } from '@jest/globals';
import type { Job, JobStatus } from '@vision/contracts/inference';
import { canBeRead, hasVanished, isEvidence, isMassVanishing, isQuiet, classifyJob } from './job-progress.ts';
import type { JobFacts, Status, Task } from './task.ts';

const now = new Date('2026-03-01T12:00:00Z');
const before = (ms: number) => new Date(now.getTime() - ms);
const rules = { now, today: now, resultsGraceMs: 60_000 };
const noFacts: JobFacts = {
  status: null,
  seenAt: null,
  missingSince: null,
  endedAt: null,
  framesPublished: null,
  attempt: null,
  resultsCompletedAt: null,
  resultsAttempt: null,
};

const task = (status: Status, facts: Partial<JobFacts> = {}, changes: Partial<Task> = {}): Task => ({
  taskId: 'a',
  subject: 's',
  kind: 'stream',
  requestId: 'r',
  sceneCode: 'ship',
  status,
  version: 4,
  attempt: 1,
  lowerBound: 0.3,
  defaultMinScore: 0.8,
  reservationId: 'a/1',
  clientRef: null,
  snapshots: 'off',
  giveUpAfterS: null,
  sourceLabel: null,
  objectKey: null,
  reason: null,
  admittedAt: null,
  stopRequestedAt: null,
  stopSentAt: null,
  stopsSent: 0,
  job: { ...noFacts, ...facts },
  trace: { traceparent: null, tracestate: null },
  createdAt: now,
  updatedAt: now,
  endedAt: null,
  resultExpiresAt: new Date(now.getTime() + 90 * 86_400_000),
  ...changes,
});
const job = (status: JobStatus, frames_published = 0): Job => ({ job_id: 'a', status, frames_published });

test.each<Status>(['submitting', 'resolving'])('evidence of the backend makes a task in %s running', (status) => {
  expect(classifyJob(task(status), job('queued'), rules)).toMatchObject({ change: { move: 'find' } });
});

test.each<[JobStatus, string]>([
  ['stopped', 'end_stopped'],
  ['succeeded', 'end_succeeded'],
  ['failed', 'end_failed'],
])('a job that is %s ends its task once the frames are readable', (status, move) => {
  expect(classifyJob(task('running'), job(status, 5), rules)).toMatchObject({
    do: 'await_frames',
    awaited: { attempt: null, published: 5 },
    change: { move },
  });
  expect(classifyJob(task('running', { resultsCompletedAt: now }), job(status, 5), rules)).toMatchObject({
    change: { move },
  });
  expect(classifyJob(task('stopping'), job(status, 0), rules)).toMatchObject({ change: { move } });
});

test('a task ends with the end-of-stream marker of the last attempt, not of an earlier one', () => {
  const facts = (resultsAttempt: number) => ({ attempt: 2, resultsCompletedAt: now, resultsAttempt });
  expect(classifyJob(task('running', facts(1)), job('succeeded', 5), rules)).toMatchObject({
    do: 'await_frames',
    awaited: { attempt: 2 },
  });
  expect(classifyJob(task('running', facts(2)), job('succeeded', 5), rules)).toMatchObject({
    change: { move: 'end_succeeded' },
  });
});

test('a job that reports no frames may have had an attempt with unreported frames', () => {
  expect(classifyJob(task('running', { attempt: 1 }), job('failed', 0), rules)).toMatchObject({ do: 'move' });
  expect(classifyJob(task('running', { attempt: 2 }), job('failed', 0), rules)).toMatchObject({ do: 'await_frames' });
});

test('stored but uncounted frames do not compensate for missing ones', () => {
  expect(canBeRead({ attempt: 2, published: 10 }, { frames: 60, completedAttempt: undefined })).toBe(false);
  expect(canBeRead({ attempt: 2, published: 10 }, { frames: 60, completedAttempt: 1 })).toBe(false);
  expect(canBeRead({ attempt: 2, published: 10 }, { frames: 10, completedAttempt: 2 })).toBe(true);
  expect(canBeRead({ attempt: null, published: 10 }, { frames: 10, completedAttempt: undefined })).toBe(true);
});

test('after the grace a task ends without its end-of-stream marker, with an alarm', () => {
  expect(classifyJob(task('running', { endedAt: before(59_999) }), job('succeeded', 5), rules)).toMatchObject({
    do: 'await_frames',
  });
  const late = classifyJob(task('running', { endedAt: before(60_000) }), job('succeeded', 5), rules);
  expect(late).toMatchObject({ change: { move: 'end_succeeded' }, alarm: 'results_late' });
});

test('repeats the stop request while the job continues', () => {
  expect(classifyJob(task('stopping'), job('running'), rules)).toEqual({ do: 'stop' });
});

test('an earlier stop request, or the end of the longest run, stops a running task', () => {
  expect(classifyJob(task('running'), job('running'), rules)).toEqual({ do: 'wait' });
  expect(classifyJob(task('running', {}, { stopRequestedAt: now }), job('running'), rules)).toMatchObject({
    change: { move: 'stop' },
  });
  const nearExpiry = new Date(now.getTime() + 86_400_000);
  expect(classifyJob(task('running', {}, { resultExpiresAt: nearExpiry }), job('running'), rules)).toMatchObject({
    change: { move: 'stop' },
  });
});

test('a job of a task verified as not created is stopped', () => {
  expect(classifyJob(task('refunded'), job('running'), rules)).toEqual({ do: 'stop' });
  expect(classifyJob(task('refunded'), job('stopped'), rules)).toEqual({ do: 'wait' });
});

test('a stopped job without frames is no evidence: a stop of an unknown id looks the same', () => {
  expect(isEvidence(task('resolving'), job('stopped'))).toBe(false);
  expect(isEvidence(task('resolving'), job('stopped', 1))).toBe(true);
  expect(isEvidence(task('resolving', { seenAt: now }), job('stopped'))).toBe(true);
  expect(isEvidence(task('resolving'), job('failed'))).toBe(true);
});

test('a job vanishes when it was seen before, is missing long enough, and its task should run', () => {
  const facts = { seenAt: before(200_000), missingSince: before(120_000) };
  expect(hasVanished(task('running', facts), now, 120_000)).toBe(true);
  expect(hasVanished(task('running', facts), now, 120_001)).toBe(false);
  expect(hasVanished(task('running', { missingSince: before(500_000) }), now, 1)).toBe(false);
  expect(hasVanished(task('resolving', facts), now, 1)).toBe(false);
});

test.each([
  [1, 1, false],
  [5, 1, false],
  [10, 2, false],
  [10, 3, true],
  [2, 2, true],
])('whether %i jobs with %i missing count as mass vanishing: %s', (asked, missing, mass) => {
  expect(isMassVanishing(asked, missing)).toBe(mass);
});

test.each<JobStatus>(['queued', 'running'])('a task whose job is %s and goes on is quiet', (status) => {
  expect(isQuiet(task('running'), job(status, 5), rules)).toBe(true);
  // The job was missing for a moment.
  expect(isQuiet(task('running', { missingSince: before(1_000) }), job(status, 5), rules)).toBe(true);
});

test('a task is not quiet when it or its job is about to change', () => {
  const running = job('running', 5);
  expect(isQuiet(task('stopping'), running, rules)).toBe(false);
  expect(isQuiet(task('running', {}, { stopRequestedAt: now }), running, rules)).toBe(false);
  expect(isQuiet(task('running', {}, { resultExpiresAt: now }), running, rules)).toBe(false);
  expect(isQuiet(task('running'), job('stopping', 5), rules)).toBe(false);
  expect(isQuiet(task('running'), job('succeeded', 5), rules)).toBe(false);
});

test('a task is not quiet once the end-of-stream marker of the current attempt has arrived', () => {
  const marked = (resultsAttempt: number | null) => task('running', { resultsCompletedAt: now, resultsAttempt });
  const second = { ...job('running', 5), attempt: 2 };
  expect(isQuiet(marked(2), second, rules)).toBe(false);
  expect(isQuiet(marked(null), second, rules)).toBe(false);
  expect(isQuiet(marked(1), second, rules)).toBe(true);
});
