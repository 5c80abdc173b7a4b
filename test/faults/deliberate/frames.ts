import type { DeliberateFault } from './deliberate-fault.ts';

/** Frames of jobs whose lease is in doubt, and their way into the database of results. */
export const frameFaults: DeliberateFault[] = [
  {
    says: 'A worker goes on numbering frames beyond the ceiling that the database confirmed',
    file: 'services/inference/src/jobs/frame-numbers.ts',
    find: 'return seq < ceiling ? seq++ : undefined;',
    replace: 'return seq++;',
    caughtBy: {
      file: 'services/inference/test/fencing.outage.test.ts',
      test: 'without a confirmed number frames are dropped and counted',
    },
  },
  {
    says: 'A worker that cannot renew its lease keeps its camera and goes on publishing',
    file: 'services/inference/src/jobs/hold.ts',
    find: 'if (isLost || performance.now() < heldUntilMs) return;',
    replace: 'if (isLost || performance.now() < heldUntilMs + 3_600_000) return;',
    caughtBy: {
      file: 'services/inference/test/fencing.outage.test.ts',
      test: 'a worker cut off from the database alone has left its camera before another one comes',
    },
  },
  {
    says: 'A worker that wakes up after its lease publishes before any timer could stop it',
    file: 'services/inference/src/jobs/frame-publisher.ts',
    find: `    hold.check();
`,
    replace: '',
    caughtBy: {
      file: 'services/inference/src/jobs/frame-publisher.test.ts',
      test: 'after a freeze that outlasts the hold nothing is published',
    },
  },
  {
    says: 'A hold ends only when its timer comes, however late that is',
    file: 'services/inference/src/jobs/hold.ts',
    find: `    check,
    isStopRequested`,
    replace: `    check: () => undefined,
    isStopRequested`,
    caughtBy: {
      file: 'services/inference/src/jobs/hold.test.ts',
      test: 'after a freeze the hold is over before any timer could say so',
    },
  },
  {
    says: 'Another frame under a stored number vanishes in silence',
    file: 'services/results/src/use-cases/store/store-frames.ts',
    find: `    for (const conflict of conflicts) deps.signals.framesConflict(ingest.task_id, conflict);
`,
    replace: '',
    caughtBy: {
      file: 'services/results/test/store-frames.test.ts',
      test: 'another frame under a stored number is reported',
    },
  },
  {
    says: 'Hot frames are removed although a newer attempt took some of them over while they were being moved',
    file: 'services/results/src/db/hot-frames.ts',
    find: `
        and s.revision = row.revision`,
    replace: '',
    caughtBy: {
      file: 'services/results/test/compaction.test.ts',
      test: 'frames that a newer attempt takes over while they are being moved are not lost',
    },
  },
  {
    says: 'A segment is indexed whose object the sweep may have removed already',
    file: 'services/results/src/db/segment-objects.ts',
    find: 'return taken === 1;',
    replace: 'return taken >= 0;',
    caughtBy: {
      file: 'services/results/test/compaction.test.ts',
      test: 'an object that was on its way for too long is not used',
    },
  },
  {
    says: 'Frames are moved while a writer takes them over for a newer attempt',
    file: 'services/results/src/use-cases/segments/compact-task.ts',
    find: 'const locked = await lockIngests(tx, [taskId]);',
    replace: 'const locked = new Map<string, { deleted_at: Date | null }>();',
    caughtBy: {
      file: 'services/results/test/compaction.test.ts',
      test: 'frames that a newer attempt takes over in the moment in which they are moved count for it',
    },
  },
  {
    says: 'What is moved at once is bounded by its compressed size only',
    file: 'services/results/src/use-cases/segments/compact-task.ts',
    find: ' || (count > 0 && bytes > MOST_BYTES)',
    replace: '',
    caughtBy: {
      file: 'services/results/test/compaction.test.ts',
      test: 'what is moved at once is bounded by what it takes in memory',
    },
  },
  {
    says: 'Two replicas move the frames of one task at the same time',
    file: 'services/results/src/db/claim-due.ts',
    find: 'update ingests set :dueAt: = now() + make_interval(secs => :leaseS)',
    replace: 'update ingests set :dueAt: = now() + 0 * make_interval(secs => :leaseS)',
    caughtBy: {
      file: 'services/results/test/compaction.test.ts',
      test: 'while a replica moves the frames of a task, no other one does',
    },
  },
  {
    says: 'A segment is indexed in a day whose objects have been removed',
    file: 'services/results/src/db/partitions.ts',
    find: 'add constraint ?? check (false) not valid',
    replace: 'add constraint ?? check (true) not valid',
    caughtBy: {
      file: 'services/results/test/compaction.test.ts',
      test: 'an object that is being indexed while its day is removed is not forgotten in the store',
    },
  },
  {
    says: 'What an attempt published before the next one began is dropped when it is read later',
    file: 'services/results/src/domain/fold-events.ts',
    find: ` && (kind === 'end' || hasEnded || data.seq >= firstSeq)`,
    replace: '',
    caughtBy: {
      file: 'services/results/test/store-frames.test.ts',
      test: 'stores frames that an attempt published before the next one began',
    },
  },
  {
    says: 'No producer compares what it sent with what the broker acknowledged',
    file: 'packages/kafka/src/producer.ts',
    find: 'acknowledgement.verify(topicMessages, answer);',
    replace: 'void [topicMessages, answer];',
    caughtBy: {
      file: 'packages/kafka/test/acknowledged-partitions.test.ts',
      test: 'an answer that leaves a partition out acknowledges nothing',
    },
  },
  {
    says: 'A publish resolves although the broker acknowledged no partition of its records',
    file: 'packages/kafka/src/acknowledgement.ts',
    find: 'others.length > 0 || !acknowledged.has(idOf(topic, partition))',
    replace: 'others.length > 0',
    caughtBy: {
      file: 'packages/kafka/src/acknowledgement.test.ts',
      test: 'refuses an answer that leaves a partition out, as after a leader moved between two tries',
    },
  },
  {
    says: 'A record for a partition that was added is not sent again with new metadata',
    file: 'packages/kafka/src/acknowledgement.ts',
    find: 'if (!partitionMetadata.some(({ partitionId }) => partitionId === partition)) throw unknown(topic, partition);',
    replace: '',
    caughtBy: {
      file: 'packages/kafka/test/acknowledged-partitions.test.ts',
      test: 'keeps every acknowledged event of jobs that begin while partitions are added',
    },
  },
];
