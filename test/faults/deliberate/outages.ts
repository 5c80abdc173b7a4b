import type { DeliberateFault } from './deliberate-fault.ts';

/** What outlives an outage of the database, and what it must not be taken for. */
export const outageFaults: DeliberateFault[] = [
  {
    says: 'After an outage that was longer than their leases, creates that go on are taken for dead',
    file: 'services/tasks/src/db/dead-drafts.ts',
    find: `'due.status = any(?) and (select may_take_over())', [statuses])`,
    replace: `'due.status = any(?)', [statuses])`,
    caughtBy: {
      file: 'services/tasks/test/outage-past-lease.test.ts',
      test: 'an upload outlives an outage of the database that is longer than its lease',
    },
  },
  {
    says: 'A refusal of the backend is written down once, whatever the database does',
    file: 'services/tasks/src/use-cases/apply-submit-outcome.ts',
    find: `await throughOutage(() => record(deps, task, { move: 'refuse', reason: outcome.reason }));`,
    replace: `await record(deps, task, { move: 'refuse', reason: outcome.reason });`,
    caughtBy: {
      file: 'services/tasks/test/lost-commits.test.ts',
      test: 'a refusal of the backend is written down although the first commit of it is lost',
    },
  },
  {
    says: 'A create that the backend has no place for is taken back once, whatever the database does',
    file: 'services/tasks/src/use-cases/apply-submit-outcome.ts',
    find: 'await throughOutage(() => takeBack(deps, task));',
    replace: 'await takeBack(deps, task);',
    caughtBy: {
      file: 'services/tasks/test/lost-commits.test.ts',
      test: 'a create that the backend had no place for is taken back although the first commit of that is lost',
    },
  },
  {
    says: 'The audit compares all frames of a task, and not those of the attempt that its end mark speaks of',
    file: 'services/results/src/db/audit.ts',
    find: 'or (mark.count > 0 and (counted.count',
    replace: 'or (false and (counted.count',
    caughtBy: {
      file: 'services/results/test/audit.test.ts',
      test: 'of a task with two attempts the end mark is compared with the frames of its own attempt',
    },
  },
];
