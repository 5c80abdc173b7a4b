import type { DeliberateFault } from './deliberate-fault.ts';

/** What the audits compare; one fault for each kind of difference, and for each side from which it can be missed. */
export const auditFaults: DeliberateFault[] = [
  {
    says: 'An audit takes every counter for right',
    file: 'services/quota/src/db/audit.ts',
    find: 'where coalesce(q.used, 0) <> coalesce(q.folded, 0) + coalesce(sums.charged, 0)',
    replace: 'where false',
    caughtBy: {
      file: 'services/quota/test/audit.test.ts',
      test: 'a counter that was changed by hand is reported, shown and gone after a repair',
    },
  },
  {
    says: 'An audit takes every open reservation for held',
    file: 'packages/creation/src/audit-reservations.ts',
    find: 'return open.filter((one) => !held.has(one.reservation_id)).map(toFound);',
    replace: 'return open.filter(() => held.size < 0).map(toFound);',
    caughtBy: {
      file: 'services/tasks/test/audit.test.ts',
      test: 'reports and lists units held without a task until they are refunded',
    },
  },
  {
    says: 'An audit takes the units of an image call at work for held by nobody',
    file: 'services/images/src/use-cases/audits.ts',
    find: 'findHeld: (ids) => findHeld(deps.db, ids)',
    replace: 'findHeld: async (ids) => (await findHeld(deps.db, ids)).slice(ids.length)',
    caughtBy: {
      file: 'services/images/test/audit.test.ts',
      test: 'reports units that no image call holds until they are refunded, and no units of a call in progress',
    },
  },
  {
    says: 'An audit looks for no job without a worker',
    file: 'services/inference/src/use-cases/audit-jobs.ts',
    find: '      await noteDifferences(db, KIND, unattended.map(toFound));\n',
    replace: '      await noteDifferences(db, KIND, unattended.slice(PAGE).map(toFound));\n',
    caughtBy: {
      file: 'services/inference/test/audit.test.ts',
      test: 'jobs that no worker holds are reported and shown until one takes them',
    },
  },
  {
    says: 'An audit does not count the stored frames of a task',
    file: 'services/results/src/domain/ended-task.ts',
    find: 'frames !== task.stored || ',
    replace: '',
    caughtBy: {
      file: 'services/results/test/audit.test.ts',
      test: 'frames that are gone are reported; tasks in order are not',
    },
  },
  {
    says: 'An audit reads all tasks that have ended in one statement',
    file: 'services/results/src/db/audit.ts',
    find: ' fetch first (:limit) rows with ties',
    replace: '',
    caughtBy: {
      file: 'services/results/test/audit-frames.test.ts',
      test: 'tasks that end at once are audited page by page',
    },
  },
  {
    says: 'An audit passes over the tasks behind a full page',
    file: 'services/results/src/db/audit.ts',
    find: 'upTo: isFull ? last.changedAt : to,',
    replace: 'upTo: to,',
    caughtBy: {
      file: 'services/results/test/audit-frames.test.ts',
      test: 'tasks that end at once are audited page by page',
    },
  },
  {
    says: 'An audit does not look at the numbers of the last attempt in segments',
    file: 'services/results/src/db/audit.ts',
    find: 'coalesce((attempts -> :attempt::text ->> 0)::int, 0) as count',
    replace: 'frames as count',
    caughtBy: {
      file: 'services/results/test/audit-segments.test.ts',
      test: 'a segment that counts other frames of the last attempt than its end-of-stream marker is reported',
    },
  },
  {
    says: 'An audit does not look for the objects of segments',
    file: 'services/results/src/use-cases/operate/audit-segments.ts',
    find: 'has: store.has,',
    replace: 'has: () => Promise.resolve(true),',
    caughtBy: {
      file: 'services/results/test/audit-segments.test.ts',
      test: 'a segment whose object is gone is reported until it is there again',
    },
  },
  {
    says: 'An audit does not notice a task of which nothing arrived',
    file: 'services/results/src/domain/ended-task.ts',
    find: '(task.published ?? task.stored) > 0',
    replace: 'task.stored > 0',
    caughtBy: {
      file: 'services/results/test/audit.test.ts',
      test: 'a task of which nothing arrived although frames were published is reported',
    },
  },
  {
    says: 'An audit asks nobody about frames of a task that is not there',
    file: 'services/results/src/use-cases/operate/audit-unknown-tasks.ts',
    find: 'return taskIds.filter((id) => !known.has(id)).map(',
    replace: 'return taskIds.filter(() => known.size < 0).map(',
    caughtBy: {
      file: 'services/results/test/audit.test.ts',
      test: 'frames of a job whose task does not exist are reported until its end-of-stream marker comes',
    },
  },
  {
    says: 'An end mark is awaited although the backend lost the job',
    file: 'services/tasks/src/domain/task.ts',
    find: 'return job.endedAt === null ? 0 : (job.framesPublished ?? 0);',
    replace: 'return job.framesPublished ?? 0;',
    caughtBy: {
      file: 'services/tasks/test/reconcile.test.ts',
      test: 'a single vanished job fails its task after a while',
    },
  },
  {
    says: 'An audit does not look whether the video of a task is there',
    file: 'services/tasks/src/use-cases/operate/audit-videos.ts',
    find: 'has: async (key) => (await store.stat(key)) !== undefined,',
    replace: 'has: () => Promise.resolve(true),',
    caughtBy: {
      file: 'services/tasks/test/audit.test.ts',
      test: 'reports and lists a task whose video is missing',
    },
  },
  {
    says: 'An audit passes over stored videos that no task has',
    file: 'services/tasks/src/use-cases/operate/audit-videos.ts',
    find: 'await withoutTask(db, keys);',
    replace: '(await withoutTask(db, keys)).slice(keys.length);',
    caughtBy: {
      file: 'services/tasks/test/audit.test.ts',
      test: 'reports and lists a stored video without a task until it is removed',
    },
  },
];
