import type { DeliberateFault } from './deliberate-fault.ts';

/** What outlives an outage of the database, and what it must not be taken for. */
export const outageFaults: DeliberateFault[] = [
  {
    says: 'A free connection is used although its peer has owed another one an answer for long',
    file: 'packages/shared/src/db/connection-trust.ts',
    find: '      noteOverdue();\n',
    replace: '',
    caughtBy: {
      file: 'packages/shared/src/db/connection-trust.test.ts',
      test: 'replaces them as soon as a statement is overdue, before it is given up',
    },
  },
  {
    says: 'A task that waits for the object store holds up the moving of all others',
    file: 'packages/shared/src/async/task-loops.ts',
    find: 'const outages = await Promise.all(taskIds.map((taskId) => attempt(taskId, () => step(taskId))));',
    replace:
      'const outages: (AppError | undefined)[] = []; for (const id of taskIds) outages.push(await attempt(id, () => step(id)));',
    caughtBy: {
      file: 'services/results/test/verify-segments.test.ts',
      test: 'tasks are moved concurrently',
    },
  },
  {
    says: 'Frames of an earlier attempt that Kafka took and lost are in no audit',
    file: 'services/results/src/domain/ended-task.ts',
    find: ' || (task.published ?? 0) > task.stored',
    replace: '',
    caughtBy: {
      file: 'services/results/test/audit.test.ts',
      test: 'frames of an earlier attempt that were published and never came are reported',
    },
  },
  {
    says: 'After an outage that was longer than their leases, creates that go on are taken for dead',
    file: 'services/tasks/src/db/dead-drafts.ts',
    find: `'due.status = any(?) and (select may_take_over())', [statuses])`,
    replace: `'due.status = any(?)', [statuses])`,
    caughtBy: {
      file: 'services/tasks/test/outage-past-lease.outage.test.ts',
      test: 'an upload survives a database outage that is longer than its lease',
    },
  },
  {
    says: 'A partition of which nothing was read has no position when a member of the group joins',
    file: 'packages/kafka/src/event-consumer.ts',
    find: 'onAssigned: () => comparer.wake(),',
    replace: 'onAssigned: () => undefined,',
    caughtBy: {
      file: 'packages/kafka/test/idle-partitions.test.ts',
      test: 'a database that is set back reads again what came to partitions in which nothing was',
    },
  },
  {
    says: 'A stop that a clock ahead has dated is not repeated until the clock has caught up',
    file: 'services/tasks/src/db/bring-back-instants.ts',
    find: `.where('stop_sent_at', '>', tooFar)`,
    replace: `.where('stop_sent_at', '<', '-infinity')`,
    caughtBy: {
      file: 'services/tasks/test/stepped-clock.test.ts',
      test: 'a stop sent under a fast clock is sent again once the clock is right',
    },
  },
  {
    says: 'A refusal of the backend is written down once, whatever the database does',
    file: 'services/tasks/src/use-cases/create/apply-submit-outcome.ts',
    find: `await throughOutage(() => record(deps, task, { move: 'refuse', reason: outcome.reason }));`,
    replace: `await record(deps, task, { move: 'refuse', reason: outcome.reason });`,
    caughtBy: {
      file: 'services/tasks/test/lost-commits.outage.test.ts',
      test: 'a refusal of the backend is stored although its first commit is lost',
    },
  },
  {
    says: 'A create that the backend has no slot for is rolled back once, also when the database fails',
    file: 'services/tasks/src/use-cases/create/apply-submit-outcome.ts',
    find: 'await throughOutage(() => rollBackSubmission(deps, task));',
    replace: 'await rollBackSubmission(deps, task);',
    caughtBy: {
      file: 'services/tasks/test/lost-commits.outage.test.ts',
      test: 'a create request without a slot at the backend is rolled back although the first commit is lost',
    },
  },
  {
    says: 'The audit compares all frames of a task, and not those of the attempt that its end mark speaks of',
    file: 'services/results/src/domain/ended-task.ts',
    find: 'isShortOf(attempt, task.marked)',
    replace: 'frames < task.marked.count',
    caughtBy: {
      file: 'services/results/test/audit.test.ts',
      test: 'of a task with two attempts the end-of-stream marker is compared with the frames of its own attempt',
    },
  },
  {
    says: 'A live stream stands still while Kafka takes no frames',
    file: 'services/inference/src/jobs/frame-publisher.ts',
    find: 'const hasToWait = !drops && (',
    replace: 'const hasToWait = (',
    caughtBy: {
      file: 'services/inference/src/jobs/frame-publisher.test.ts',
      test: 'a live stream goes on while Kafka takes nothing for 30 seconds',
    },
  },
  {
    says: 'Frames that were dropped during an outage of Kafka are not reported by their numbers',
    file: 'services/inference/src/domain/unsent-frames.ts',
    find: 'if (first && dropped && first.seq > dropped.lastSeq) endDrops();',
    replace: '',
    caughtBy: {
      file: 'services/inference/test/kafka-outage.outage.test.ts',
      test: 'frames of a live stream that memory has no room for during an outage of Kafka are counted and named',
    },
  },
  {
    says: 'The status of a process asks its database through one connection of the pool',
    file: 'packages/shared/src/status/checks.ts',
    find: 'Math.max(1, freeConnections(db))',
    replace: 'Math.min(1, freeConnections(db))',
    caughtBy: {
      file: 'packages/shared/test/vanished-database.outage.test.ts',
      test: 'the status of a process finds dead connections of its pool behind one that answers',
    },
  },
  {
    says: 'The status of a process does not report the calls that timed out',
    file: 'packages/shared/src/upstream/upstream-metrics.ts',
    find: '  recentTimeouts.note({ upstream, operation, outcome });\n',
    replace: '',
    caughtBy: {
      file: 'packages/shared/src/upstream/recent-timeouts.test.ts',
      test: 'every call to an upstream that times out is among those of the process',
    },
  },
  {
    says: 'A service starts without the right to remove objects',
    file: 'services/images/src/service.ts',
    find: "['read', 'write', 'list', 'remove']",
    replace: '[]',
    caughtBy: {
      file: 'services/images/test/start.test.ts',
      test: 'a right in the bucket that is missing',
    },
  },
  {
    says: 'Frames are put aside because the database does not let the consumer store them',
    file: 'packages/kafka/src/persist.ts',
    find: "if (isStoreFault(error)) return 'store';",
    replace: '',
    caughtBy: {
      file: 'packages/kafka/test/batch-consumer.test.ts',
      test: 'keeps from its place holds up its partition, with an alarm',
    },
  },
  {
    says: 'A database whose commits do not wait for its standby counts as synchronous',
    file: 'packages/shared/src/db/standby-check.ts',
    find: 'return LASTING.includes(level) ? undefined',
    replace: 'return level ? undefined',
    caughtBy: {
      file: 'packages/shared/test/standby-check.test.ts',
      test: 'a standby that commits do not wait for is none',
    },
  },
  {
    says: 'A pool hands out a connection again whose statement got no answer',
    file: 'packages/shared/src/db/measured-client.ts',
    find: '    trust?.noteFailure(connection, error, sentAt);\n',
    replace: '',
    caughtBy: {
      file: 'packages/shared/test/vanished-database.outage.test.ts',
      test: 'no statement fails twice when the server vanished without a reset',
    },
  },
  {
    says: 'The gauge of a background loop counts a failed round as a success',
    file: 'packages/shared/src/async/loop-progress.ts',
    find: `failed: (error, failures, pauseMs) => {
      nextPauseMs = pauseMs;`,
    replace: `failed: (error, failures, pauseMs) => {
      note(pauseMs);`,
    caughtBy: {
      file: 'packages/shared/src/async/loop-progress.test.ts',
      test: 'a loop shows the time since its last success and its pause, from its start until its stop',
    },
  },
  {
    says: 'The server of a session with locks is not asked whether it is there',
    file: 'packages/shared/src/db/session.ts',
    find: 'if (underWay === 0) void query',
    replace: 'if (underWay > 0) void query',
    caughtBy: {
      file: 'packages/shared/test/session-heartbeat.test.ts',
      test: 'a session asks its server every ten seconds',
    },
  },
  {
    says: 'A process that is ready stops being ready when a store refuses it later',
    file: 'packages/shared/src/start/start-checks.ts',
    find: 'state.wasReady ||= open.size === 0;',
    replace: '',
    caughtBy: {
      file: 'packages/shared/src/start/start-checks.test.ts',
      test: 'a process that is ready without a store stays ready when the store refuses it later',
    },
  },
  {
    says: 'Dead image calls are rolled back one after the other',
    file: 'services/images/src/use-cases/recover-dead-calls.ts',
    find: 'await Promise.all(dead.map((claim) => loop.attempt(claim.taskId, () => rollBack(claim))));',
    replace: 'for (const claim of dead) await loop.attempt(claim.taskId, () => rollBack(claim));',
    caughtBy: {
      file: 'services/images/test/crash.outage.test.ts',
      test: 'rolls back dead calls concurrently: a slow refund delays no other call',
    },
  },
  {
    says: 'An image call is sent to the next day while other calls may still be refunded',
    file: 'services/images/src/use-cases/day-exhausted.ts',
    find: 'isCovered ? UNDECIDED_RETRY_S : undefined',
    replace: 'undefined',
    caughtBy: {
      file: 'services/images/test/degraded.outage.test.ts',
      test: 'suggests a retry soon while a refund of a running call could cover the refused one',
    },
  },
  {
    says: 'Values of rows stand in lines about errors of the database',
    file: 'packages/shared/src/logger.ts',
    find: '          ...valuesOfRows,\n',
    replace: '',
    caughtBy: {
      file: 'packages/shared/src/logger.test.ts',
      test: 'an error of the database is logged without the values of rows',
    },
  },
  {
    says: 'A picture is sent to the object store without a checksum',
    file: 'packages/objects/src/uploads.ts',
    find: '[CRC_HEADER]: crcHeaderOf(crc),',
    replace: '',
    caughtBy: {
      file: 'packages/objects/test/stored-bytes.test.ts',
      test: 'a stream of known content goes with its checksum',
    },
  },
];
