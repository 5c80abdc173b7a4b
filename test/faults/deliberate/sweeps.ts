import type { DeliberateFault } from './deliberate-fault.ts';

const file = 'packages/creation/src/sweep.ts';
const tests = 'packages/creation/test/sweep.test.ts';
const removeListed = 'services/results/src/use-cases/retain/remove-listed.ts';

/** Objects that belong to nothing, and those that must stay. */
export const sweepFaults: DeliberateFault[] = [
  {
    says: 'A sweep begins at its mark, although an upload may have become whole behind it',
    file,
    find: 'new Date(swept.getTime() - sweep.uploadMs - CLOCKS_MS)',
    replace: 'swept',
    caughtBy: {
      file: tests,
      test: 'an object with a long upload is removed when it is old enough, without a full scan',
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
    find: 'if (after === undefined) return;',
    replace: 'if (after === undefined || after !== undefined) return;',
    caughtBy: {
      file: tests,
      test: 'the next full scan removes late objects and keys of other forms',
    },
  },
  {
    says: 'Another replica begins with a sweep that goes on',
    file,
    find: '    await keepTurn(sweep.db, marksOf(sweep).turn);',
    replace: '',
    caughtBy: {
      file: tests,
      test: 'of replicas that sweep at the same time one does, and it keeps its turn while it goes on',
    },
  },
  {
    says: 'What belongs to nothing is removed without a grace',
    file: 'packages/creation/src/sweep-marks.ts',
    find: '[graceMs / 1000]',
    replace: '[0 * graceMs]',
    caughtBy: {
      file: tests,
      test: 'what belongs to nothing is marked first, and removed a week later if it still belongs to nothing',
    },
  },
  {
    says: 'A database beside others sweeps their objects too',
    file,
    find: "standing === 'owner' ? sweep.prefix : own",
    replace: 'sweep.prefix',
    caughtBy: {
      file: 'packages/creation/test/bucket-owner.test.ts',
      test: 'two installations with one bucket remove what is their own, until an operator gives it to one',
    },
  },
  {
    says: 'A restored database of results removes the objects of expired days',
    file: 'services/results/src/use-cases/retain/remove-segments.ts',
    find: "    if (standing === 'restored') return;",
    replace: '',
    caughtBy: {
      file: 'services/results/test/shared-bucket.test.ts',
      test: 'a restored database removes no object, until an operator goes on with it',
    },
  },
  {
    says: 'Every replica of results removes expired days at the same time',
    file: 'services/results/src/use-cases/retain/retention-in-turn.ts',
    find: 'if (!(await claimTurn(deps.db, TURN, everyMs / 2))) return;',
    replace: 'await claimTurn(deps.db, TURN, everyMs / 2);',
    caughtBy: { file: 'services/results/test/retention-turns.test.ts', test: 'one replica removes an expired day' },
  },
  {
    says: 'A replica that stops removes all objects of an expired day first',
    file: removeListed,
    find: 'if (!(await goesOn())) return false;',
    replace: 'await goesOn();',
    caughtBy: { file: 'services/results/test/retention-turns.test.ts', test: 'one replica removes an expired day' },
  },
  {
    says: 'All objects of an expired day are removed in one batch',
    file: removeListed,
    find: 'const BATCH = 500;',
    replace: 'const BATCH = 50_000;',
    caughtBy: { file: 'services/results/test/retention-turns.test.ts', test: 'one replica removes an expired day' },
  },
];
