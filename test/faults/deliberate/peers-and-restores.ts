import type { DeliberateFault } from './deliberate-fault.ts';

/** Peers that vanish or come back as others, databases that are not the ones that wrote, and loops that say so. */
export const peerFaults: DeliberateFault[] = [
  {
    says: 'A connection to a broker that vanished without a reset stays after a request got no answer',
    file: 'packages/kafka/src/unanswered-requests.ts',
    find: '    this.emit(UNANSWERED);\n',
    replace: '',
    caughtBy: {
      file: 'packages/kafka/test/secure-kafka.test.ts',
      test: 'a connection whose peer vanished without a reset is replaced after its first unanswered request',
    },
  },
  {
    says: 'A connection to a Redis that vanished without a reset stays after a command got no answer',
    file: 'services/gateway/src/clients/redis.ts',
    find: "if (outcomeOf(error) === 'total_timeout') endOnce(stream);",
    replace: "if (outcomeOf(error) === 'none') endOnce(stream);",
    caughtBy: {
      file: 'services/gateway/test/vanished-redis.test.ts',
      test: 'a Redis that vanished without a reset is connected to again',
    },
  },
  {
    says: 'Connections to a server that takes no writes any more are used again',
    file: 'packages/shared/src/db/connection-trust.ts',
    find: 'if (state === READ_ONLY) openedSince = now();',
    replace: 'if (state === READ_ONLY) openedSince = Math.min(0, now());',
    caughtBy: {
      file: 'packages/shared/src/db/connection-trust.test.ts',
      test: 'replaces every connection that was opened before a server refused to write',
    },
  },
  {
    says: 'A new connection to a server that takes no writes is put into the pool',
    file: 'packages/shared/src/db/measured-client.ts',
    find: "if (rows[0]?.['transaction_read_only'] === 'on') throw",
    replace: "if (rows[0]?.['transaction_read_only'] === 'none') throw",
    caughtBy: {
      file: 'packages/shared/test/vanished-database.outage.test.ts',
      test: 'connections to a server that takes no writes any more are replaced, all at once',
    },
  },
  {
    says: 'A process opens useless connections without a pause',
    file: 'packages/shared/src/db/connection-trust.ts',
    find: 'now() - (uselessAt[0] ?? 0) < PERIOD_MS;',
    replace: 'now() - (uselessAt[0] ?? 0) < 0;',
    caughtBy: {
      file: 'packages/shared/src/db/connection-trust.test.ts',
      test: 'opens no more useless connections in ten seconds than the pool has',
    },
  },
  {
    says: 'A pool does not ask whether it may open a connection',
    file: 'packages/shared/src/db/measured-client.ts',
    find: '    this.#trust.checkMayOpen();\n',
    replace: '',
    caughtBy: {
      file: 'packages/shared/test/vanished-database.outage.test.ts',
      test: 'a pool that only opened connections to a server that takes no writes opens no more for a while',
    },
  },
  {
    says: 'A pool does not count the connections that led to a server that takes no writes',
    file: 'packages/shared/src/db/measured-client.ts',
    find: '      this.#trust.noteUseless();\n',
    replace: '',
    caughtBy: {
      file: 'packages/shared/test/vanished-database.outage.test.ts',
      test: 'a pool that only opened connections to a server that takes no writes opens no more for a while',
    },
  },
  {
    says: 'A server keeps the locks of a process whose host vanished for two hours',
    file: 'packages/shared/src/db/session.ts',
    find: 'await query(VANISHED_AFTER);',
    replace: 'void VANISHED_AFTER;',
    caughtBy: {
      file: 'packages/shared/test/vanished-database.outage.test.ts',
      test: 'the server frees the locks of a session within seconds when its process vanishes',
    },
  },
  {
    says: 'A log that another leader wrote below the position of a consumer is taken for the one that it read',
    file: 'packages/kafka/src/leader-epoch.ts',
    find: 'if (rowEpoch === undefined || epochs === undefined) return {};',
    replace: 'if (rowEpoch === undefined || epochs === undefined || row >= 0n) return {};',
    caughtBy: {
      file: 'packages/kafka/test/lost-log.outage.test.ts',
      test: 'a consumer handles what stands below its position now, with an alarm',
    },
  },
  {
    says: 'A database removes objects of which it knows less than four fifths',
    file: 'packages/creation/src/sweep.ts',
    find: 'const MOST_UNKNOWN = { objects: 20, share: 0.2 };',
    replace: 'const MOST_UNKNOWN = { objects: 20, share: 2 };',
    caughtBy: {
      file: 'packages/creation/test/sweep.test.ts',
      test: 'a database that does not know more than a fifth of the stored objects removes none of them',
    },
  },
  {
    says: 'A database becomes the owner of a bucket of which it knows nine tenths',
    file: 'packages/objects/src/bucket-owner.ts',
    find: 'const KNOWN_SHARE = 0.95;',
    replace: 'const KNOWN_SHARE = 0.85;',
    caughtBy: {
      file: 'packages/creation/test/bucket-owner.test.ts',
      test: 'a database becomes the owner of an empty bucket, and of one of which it knows 95 %',
    },
  },
  {
    says: 'A database that was set back behind its mark in the bucket counts as its owner',
    file: 'packages/objects/src/bucket-owner.ts',
    find: '(hasMoved || owner.generation < marked)',
    replace: 'hasMoved',
    caughtBy: {
      file: 'packages/creation/test/bucket-owner.test.ts',
      test: 'a database that is set back in its place is restored; one that is ahead of the bucket is not',
    },
  },
  {
    says: 'A copy of a database in another place counts as the owner of the bucket',
    file: 'packages/objects/src/bucket-owner.ts',
    find: 'owner.place !== null && owner.place !== place',
    replace: "owner.place !== null && place === ''",
    caughtBy: {
      file: 'packages/creation/test/bucket-owner.test.ts',
      test: 'a copy of a database in another place is restored, until an operator goes on with it',
    },
  },
  {
    says: 'A restored database of tasks removes what has expired',
    file: 'services/tasks/src/use-cases/retain/run-retention.ts',
    find: "  if ((await standingOf(videosOf(deps))) === 'restored') return removed;\n",
    replace: '  await standingOf(videosOf(deps));\n',
    caughtBy: {
      file: 'services/tasks/test/upload-tasks.test.ts',
      test: 'a restored database removes no object until an operator approves it',
    },
  },
  {
    says: 'A restored database of images removes what has expired',
    file: 'services/images/src/use-cases/run-retention.ts',
    find: "  if ((await standingOf(picturesOf(deps))) === 'restored') return removed;\n",
    replace: '  await standingOf(picturesOf(deps));\n',
    caughtBy: {
      file: 'services/images/test/delete-image-calls.test.ts',
      test: 'a restored database removes no image of an expired or a deleted call until an operator approves it',
    },
  },
  {
    says: 'A restored database of images removes what its owner deletes',
    file: 'services/images/src/use-cases/delete-image-calls.ts',
    find: "    if ((await standingOf(picturesOf(deps))) === 'restored') return [];\n",
    replace: '    await standingOf(picturesOf(deps));\n',
    caughtBy: {
      file: 'services/images/test/delete-image-calls.test.ts',
      test: 'a restored database removes no image of an expired or a deleted call until an operator approves it',
    },
  },
  {
    says: 'The recovery of a restored database of tasks removes the videos of drafts',
    file: 'services/tasks/src/use-cases/create/recover-creates.ts',
    find: "draft.objectKey !== null && (await standing()) === 'restored';",
    replace: "draft.objectKey !== null && (await standing()) === 'unknown';",
    caughtBy: {
      file: 'services/tasks/test/upload-tasks.test.ts',
      test: 'a restored database keeps the video of a draft: it may have become a task since',
    },
  },
  {
    says: 'The recovery of a restored database of images removes the images of calls in progress',
    file: 'services/images/src/use-cases/roll-back-image-call.ts',
    find: "if (isRecovery && (await standingOf(picturesOf(deps))) === 'restored') return;",
    replace: "if (isRecovery && (await standingOf(picturesOf(deps))) === 'unknown') return;",
    caughtBy: {
      file: 'services/images/test/delete-image-calls.test.ts',
      test: 'a restored database keeps the images of a call in progress: it may have finished since',
    },
  },
  {
    says: 'A statement that took too long is waited out by a loop like an outage',
    file: 'packages/shared/src/unavailable.ts',
    find: "const FAULT_CODES = new Set(['57014', '42501', ...STORE_REFUSALS]);",
    replace: "const FAULT_CODES = new Set(['42501', ...STORE_REFUSALS]);",
    caughtBy: {
      file: 'packages/shared/src/async/task-loops.test.ts',
      test: 'a statement timeout and a refusal of the object store are faults of the task, and the loop goes on',
    },
  },
  {
    says: 'A store that refuses with 403 is waited out like one that is away',
    file: 'packages/shared/src/unavailable.ts',
    find: "const FAULT_CODES = new Set(['57014', '42501', ...STORE_REFUSALS]);",
    replace: "const FAULT_CODES = new Set(['57014', '42501']);",
    caughtBy: {
      file: 'packages/shared/src/async/task-loops.test.ts',
      test: 'a statement timeout and a refusal of the object store are faults of the task, and the loop goes on',
    },
  },
  {
    says: 'A task that goes on failing is logged once',
    file: 'packages/shared/src/async/task-loops.ts',
    find: 'const REPEAT_LOG_MS = 10 * 60_000;',
    replace: 'const REPEAT_LOG_MS = Infinity;',
    caughtBy: {
      file: 'packages/shared/src/async/task-loops.test.ts',
      test: 'a task that keeps failing is logged every ten minutes with the number of its failures',
    },
  },
  {
    says: 'Creates of tasks that died are rolled back one after the other',
    file: 'services/tasks/src/use-cases/create/recover-creates.ts',
    find: 'await Promise.all(drafts.map((draft) => loop.attempt(draft.taskId, () => rollBack(draft).catch(passOverMoved))));',
    replace:
      'for (const draft of drafts) await loop.attempt(draft.taskId, () => rollBack(draft).catch(passOverMoved));',
    caughtBy: {
      file: 'services/tasks/test/recovery.test.ts',
      test: 'rollbacks of uploads that wait for the object store delay no other rollback',
    },
  },
  {
    says: 'A relay that stands by does not tell how old the outbox is',
    file: 'packages/kafka/src/relay.ts',
    find: '      standbyAge = await oldestAge(db);\n',
    replace: '      await oldestAge(db);\n',
    caughtBy: {
      file: 'packages/kafka/test/gauges.test.ts',
      test: 'a relay that stands by shows the age of the outbox, as the active one may hang',
    },
  },
  {
    says: 'Records that a broker refuses fail every job of their request',
    file: 'services/inference/src/use-cases/frame-gathering.ts',
    find: 'const isOfAll = held.length === 1 || asUnavailable(error) !== undefined;',
    replace: 'const isOfAll = held.length > 0 || asUnavailable(error) !== undefined;',
    caughtBy: {
      file: 'services/inference/src/use-cases/frame-gathering.test.ts',
      test: 'records that a broker refuses fail their own job only, and later ones go by themselves',
    },
  },
  {
    says: 'No gauge says that the object store takes no frames, as each try puts its task off',
    file: 'services/results/src/use-cases/segments/compact-frames.ts',
    find: '      deps.signals.compactionTried(true);\n',
    replace: '',
    caughtBy: {
      file: 'services/results/test/verify-segments.test.ts',
      test: 'the gauge grows while the store stores nothing, although each attempt postpones its task',
    },
  },
];
