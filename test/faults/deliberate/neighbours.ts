import type { DeliberateFault } from './deliberate-fault.ts';

/** What services ask of each other, and what becomes of it when one of them is frozen or is somebody else. */
export const neighbourFaults: DeliberateFault[] = [
  {
    says: 'Results is asked about one ended task at a time',
    file: 'services/tasks/src/use-cases/follow/end-when-readable.ts',
    find: 'const BATCH = 100;',
    replace: 'const BATCH = 1;',
    caughtBy: {
      file: 'services/tasks/test/frozen-neighbours.outage.test.ts',
      test: 'many ended tasks are queried in few calls, and end when all their frames are readable',
    },
  },
  {
    says: 'The reconciler waits for the backend to answer a stop',
    file: 'services/tasks/src/use-cases/follow/advance-found.ts',
    find: `  if (verdict.do === 'stop') return repeatStop(deps, task, now);
`,
    replace: `  if (verdict.do === 'stop') {
    await repeatStop(deps, task, now);
    await deps.inference.stopJob(task.taskId);
    return;
  }
`,
    caughtBy: {
      file: 'services/tasks/test/frozen-neighbours.outage.test.ts',
      test: 'unanswered stops delay no other stop',
    },
  },
  {
    says: 'A service may sign in the name of another one',
    file: 'packages/shared/src/http/service-token.ts',
    find: `    if (keyOf(protectedHeader).service !== iss) throw new TokenError('claims');
`,
    replace: '',
    caughtBy: {
      file: 'packages/shared/test/service-access.test.ts',
      test: 'the key of another service in its own name',
    },
  },
  {
    says: 'A token may live as long as whoever signed it says',
    file: 'packages/shared/src/http/service-token.ts',
    find: `    if (exp - iat > LIFETIME_S) throw new TokenError('claims');
`,
    replace: '',
    caughtBy: {
      file: 'packages/shared/test/service-access.test.ts',
      test: 'a life of an hour',
    },
  },
  {
    says: 'A service may call whatever it has a token for',
    file: 'packages/shared/src/http/service-access.ts',
    find: 'if (!mayCall(issuer, callee, operation)) {',
    replace: `if (operation === '' && !mayCall(issuer, callee, operation)) {`,
    caughtBy: {
      file: 'packages/shared/test/service-access.test.ts',
      test: 'a service gets no further than where it may call',
    },
  },
  {
    says: 'Records that a topic lost are passed over in silence',
    file: 'packages/kafka/src/progress.ts',
    find: `    deps.signals.gap('removed');
`,
    replace: '',
    caughtBy: {
      file: 'packages/kafka/test/positions.test.ts',
      test: 'goes on with an alarm when what was lost is no longer in the topic',
    },
  },
  {
    says: 'A consumer that works is ended when the clock of its host is stepped ahead',
    file: 'packages/kafka/src/supervise.ts',
    find: 'if (performance.now() - state.lastSignAt > SILENT_MS)',
    replace: 'if (Date.now() - performance.timeOrigin - state.lastSignAt > SILENT_MS)',
    caughtBy: {
      file: 'packages/kafka/src/supervise.test.ts',
      test: 'a consumer is silent by the time that passed, not by a clock that is stepped',
    },
  },
];
