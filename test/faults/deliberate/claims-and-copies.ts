import type { DeliberateFault } from './deliberate-fault.ts';

/** Copies of frames, statements of two sessions that meet at one row, and slots that several subjects wait for. */
export const claimFaults: DeliberateFault[] = [
  {
    says: 'The last copy of frames is dropped without reading their object',
    file: 'services/results/src/use-cases/segments/verify-segments.ts',
    find: 'if (await store.isIntact(copy)) return',
    replace: 'if (copy.bytes > 0) return',
    caughtBy: {
      file: 'services/results/test/verify-segments.test.ts',
      test: 'an object that the store has truncated is written again from the copy',
    },
  },
  {
    says: 'An upload counts as stored by its status, whatever the store says it holds',
    file: 'packages/objects/src/uploads.ts',
    find: "if (confirms(answer, headers[CRC_HEADER], md5.toString('hex'))) return;",
    replace: 'return;',
    caughtBy: {
      file: 'packages/objects/test/stored-bytes.test.ts',
      test: 'a store that keeps half of a buffer and answers 200 fails the upload',
    },
  },
  {
    says: 'An image counts as stored by its status when the store tells no checksum',
    file: 'packages/objects/src/uploads.ts',
    find: '    if (stored === undefined) await checkSize(connection, key, bytes, signal);\n    else if (stored',
    replace: '    if (stored !== undefined && stored',
    caughtBy: {
      file: 'packages/objects/test/stored-bytes.test.ts',
      test: 'a stream of known content that the store keeps half of and answers 200 fails',
    },
  },
  {
    says: 'An upload in parts counts as stored by its status, whatever the store has of it',
    file: 'packages/objects/src/uploads.ts',
    find: '    await checkSize(connection, key, sent, ended);\n',
    replace: '    void sent;\n',
    caughtBy: {
      file: 'packages/objects/test/stored-bytes.test.ts',
      test: 'a stream of which the store keeps one part of two fails the upload',
    },
  },
  {
    says: 'Slots kept for subjects without one stay free while a subject with a smaller share waits in front',
    file: 'services/tasks/src/db/slot-claims.ts',
    find: 'where has + turn = 1 or place <= free - kept',
    replace: `where place <= free - case when has + turn = 1 then 0 else kept end`,
    caughtBy: {
      file: 'services/tasks/test/capacity-slots.test.ts',
      test: 'a subject without a slot gets a kept one while a larger subject waits in front',
    },
  },
  {
    says: 'A worker drops the jobs that another renewal of it extended while it waited for their rows',
    file: 'services/inference/src/db/renew-jobs.ts',
    find: '  if (missing.length === 0) return renewed;',
    replace: '  if (missing.length >= 0) return renewed;',
    caughtBy: {
      file: 'services/inference/test/held-rows.test.ts',
      test: 'a renewal that waited for the commit of another one returns the jobs that both hold',
    },
  },
  {
    says: 'A worker whose claim a failover lost renews the job of the worker that holds it now',
    file: 'services/inference/src/db/renew-jobs.ts',
    find: ' and jobs.claim = held.claim',
    replace: '',
    caughtBy: {
      file: 'services/inference/test/lost-claims.test.ts',
      test: 'the first worker renews nothing, also when it asks for the job beside other holders of it',
    },
  },
  {
    says: 'A fold replaces one that another process has stored meanwhile',
    file: 'services/results/src/db/folds.ts',
    find: ' and revision = :revision - 1 returning task_id',
    replace: ' returning task_id',
    caughtBy: {
      file: 'services/results/test/save-fold.test.ts',
      test: 'a fold that another process has stored meanwhile',
    },
  },
  {
    says: 'A damaged object is not read from the copy of its frames',
    file: 'services/results/src/use-cases/read/open-segment.ts',
    find: 'if (!copy) throw error;',
    replace: 'if (!copy || copy.length >= 0) throw error;',
    caughtBy: {
      file: 'services/results/test/compaction.test.ts',
      test: 'an object that is gone or damaged is read from its copy',
    },
  },
];
