import type { DeliberateFault } from './deliberate-fault.ts';

/** How a job ends, and who may say so. */
export const endingFaults: DeliberateFault[] = [
  {
    says: 'An end mark is published before the ending is stored',
    file: 'services/inference/src/jobs/work-on-job.ts',
    find: 'await whileHeld(hold, () => storeEnding(deps.db, job, { ending, progress }))',
    replace: 'await Promise.resolve(true)',
    caughtBy: {
      file: 'services/inference/test/endings.outage.test.ts',
      test: 'the ending of a live job whose worker dies at',
    },
  },
  {
    says: 'The counts of a job are not stored with its ending',
    file: 'services/inference/src/db/held-jobs.ts',
    find: `      ending: JSON.stringify(ending),
      ...countsOf(db, progress),
`,
    replace: `      ending: JSON.stringify(ending),
`,
    caughtBy: {
      file: 'services/inference/test/endings.outage.test.ts',
      test: 'the counts of a job are right although no progress of it could be stored',
    },
  },
  {
    says: 'A renewal that comes behind the ending sets the counts of the job back',
    file: 'services/inference/src/db/renew-jobs.ts',
    find: "const FURTHER = 'held.last_seq > jobs.last_seq';",
    replace: "const FURTHER = 'held.last_seq is not null';",
    caughtBy: {
      file: 'services/inference/test/held-rows.test.ts',
      test: 'a renewal that comes behind the ending changes nothing of what the ending has stored',
    },
  },
  {
    says: 'An end mark does not wait for its frames',
    file: 'services/results/src/domain/plan-storing.ts',
    find: `  if (!isComplete(after, plan.end)) return { ingest: { ...after, pending_end: plan.end }, end: undefined, conflicts };
`,
    replace: '',
    caughtBy: {
      file: 'services/results/test/store-frames.test.ts',
      test: 'an end-of-stream marker that overtakes frames waits for them',
    },
  },
  {
    says: 'Frames that never come raise no alarm',
    file: 'services/results/src/use-cases/store/apply-overdue-ends.ts',
    find: `  if (!isComplete(applied.ended, applied.end)) signals.framesMissing(taskId, applied.end, applied.ended.attempt_stored);
`,
    replace: '',
    caughtBy: {
      file: 'services/results/test/store-frames.test.ts',
      test: 'frames that never come raise an alarm when the wait for them has expired',
    },
  },
  {
    says: 'End marks that cannot be judged keep those behind them waiting',
    file: 'services/results/src/use-cases/store/apply-overdue-ends.ts',
    find: 'after = page.length === PAGE ? page.at(-1) : undefined;',
    replace: 'after = page.length < 0 ? page.at(-1) : undefined;',
    caughtBy: {
      file: 'services/results/test/store-frames.test.ts',
      test: 'end-of-stream markers that cannot be decided block no later ones',
    },
  },
  {
    says: 'A task ends by the end mark of any attempt',
    file: 'services/tasks/src/domain/job-progress.ts',
    find: 'return resultsCompletedAt !== null && (resultsAttempt ?? Infinity) >= (attempt ?? 0);',
    replace: 'return resultsCompletedAt !== null;',
    caughtBy: {
      file: 'services/tasks/test/reconcile.test.ts',
      test: 'the end-of-stream marker of an earlier attempt does not end a task whose job continued',
    },
  },
  {
    says: 'resume_cursor is empty with the end mark, before the task has ended',
    file: 'services/results/src/db/task-views.ts',
    find: 'i.end_status is not null and v.ended_at is not null as is_complete',
    replace: 'i.end_status is not null as is_complete',
    caughtBy: {
      file: 'services/results/test/get-results.test.ts',
      test: 'a task that goes on under another attempt after an end-of-stream marker never has an empty resume_cursor',
    },
  },
];
