import type { DeliberateFault } from './deliberate-fault.ts';

const file = 'packages/shared/src/object-store/sweep.ts';
const tests = 'packages/shared/test/sweep.test.ts';

/** Objects that belong to nothing, and those that must stay. */
export const sweepFaults: DeliberateFault[] = [
  {
    says: 'A sweep begins at its mark, although an upload may have become whole behind it',
    file,
    find: 'new Date(mark.getTime() - sweep.uploadMs - CLOCKS_MS)',
    replace: 'mark',
    caughtBy: {
      file: tests,
      test: 'an object whose upload took long is removed when it is old enough, without a look through all',
    },
  },
  {
    says: 'A sweep removes what is young when its key is old',
    file,
    find: 'page.filter(({ modifiedAt }) => modifiedAt <= cutOff).map(({ key }) => key)',
    replace: 'page.map(({ key }) => key)',
    caughtBy: { file: tests, test: 'nothing younger than the age is removed, however old its key is' },
  },
  {
    says: 'A sweep lists everything in every turn',
    file,
    find: '(await markOf(db, sweptTo)) ?? cutOff',
    replace: 'new Date(sweep.uploadMs + CLOCKS_MS)',
    caughtBy: { file: tests, test: 'a sweep lists what has become old enough since the last one, and no more' },
  },
  {
    says: 'Nothing ever looks behind the mark of a sweep',
    file,
    find: 'if (!from) return 0;',
    replace: 'if (from || !from) return 0;',
    caughtBy: {
      file: tests,
      test: 'what came late, and keys of other forms, are removed by the next look through all',
    },
  },
  {
    says: 'Another replica begins with a sweep that goes on',
    file,
    find: `    await keepTurn(db, turn);
    return !signal?.aborted;
  });
  if (isWhole) await clearMark`,
    replace: `    return !signal?.aborted;
  });
  if (isWhole) await clearMark`,
    caughtBy: {
      file: tests,
      test: 'of replicas that sweep at the same time one does, and it keeps its turn while it goes on',
    },
  },
];
