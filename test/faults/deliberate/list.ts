/** A mend that is taken out again on purpose, and the test that has to fail then. */
export interface DeliberateFault {
  /** What the system then does wrong. */
  says: string;
  file: string;
  /** A text that the file has exactly once, and what takes its place. */
  find: string;
  replace: string;
  /** A test file and a part of the name of a test; for the fault suite the invariant that has to be broken. */
  caughtBy: { file: string; test: string } | { invariant: string; seed: number; minutes: number };
}

export const deliberateFaults: DeliberateFault[] = [
  {
    says: 'A worker goes on numbering frames beyond the ceiling that the database confirmed',
    file: 'services/inference/src/jobs/frame-numbers.ts',
    find: 'return seq < ceiling ? seq++ : undefined;',
    replace: 'return seq++;',
    caughtBy: {
      file: 'services/inference/test/fencing.test.ts',
      test: 'without a confirmed number frames are dropped and counted',
    },
  },
  {
    says: 'A worker that cannot renew its lease keeps its camera and goes on publishing',
    file: 'services/inference/src/jobs/hold.ts',
    find: 'if (isLost || performance.now() < heldUntilMs) return;',
    replace: 'if (isLost || performance.now() < heldUntilMs + 3_600_000) return;',
    caughtBy: {
      file: 'services/inference/test/fencing.test.ts',
      test: 'a worker cut off from the database alone has left its camera before another one comes',
    },
  },
  {
    says: 'A reserve that was refused after a try without an answer is not refunded',
    file: 'packages/shared/src/quota-client.ts',
    find: `if (reply.outcome !== 'granted') await refund(id, subject);`,
    replace: '',
    caughtBy: {
      file: 'services/images/test/quota-replicas.test.ts',
      test: 'a reserve that a frozen quota replica grants when it wakes up',
    },
  },
];
