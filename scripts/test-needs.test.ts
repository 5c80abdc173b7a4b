import { expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../deploy/local/settings.ts';
import { optionalProgramsOf, programsOf } from './test-needs.ts';
import { steps } from './test-steps.ts';

/** What no step runs: these have commands of their own, which install before they start. */
const OTHER_COMMANDS =
  /^(deploy\/(chart|compose|images)|test\/(why|beside))\/|^deploy\/local\/(observe|host-programs)|^scripts\/(make-release|release\/)/;

const sources = globSync('{deploy,packages,scripts,services,test}/**/*.ts', {
  cwd: root,
  exclude: (path) => /(^|\/)(node_modules|dist|\.local)$/.test(path),
}).map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

test('every program that a step looks for is installed before the first step', () => {
  const installed: string[] = [...programsOf(steps), ...optionalProgramsOf(steps)];
  const asked = sources
    .filter(({ path }) => !OTHER_COMMANDS.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\b(?:findProgram|isThere)\('(\w+)'/g)].map(([, program = '']) => ({ path, program })),
    );
  expect(asked.map(({ program }) => program)).toEqual(expect.arrayContaining(['postgres', 'promtool', 'nginx']));
  expect(asked.filter(({ program }) => !installed.includes(program))).toEqual([]);
});

test('no test installs: workers that run at once would meet at the lock of apt', () => {
  const ofTests = sources.filter(
    ({ path }) =>
      /\.test\.ts$|\/test\/|^test\/(attacks|e2e|faults|rotation|support)\//.test(path) && !OTHER_COMMANDS.test(path),
  );
  expect(ofTests.length).toBeGreaterThan(300);
  const installing = ofTests.filter(
    ({ path, text }) => /\binstallMissing\(/.test(text) && path !== 'scripts/test-needs.test.ts',
  );
  expect(installing.map(({ path }) => path)).toEqual([]);
});

test('a step that is named alone has what it runs', () => {
  const only = (wanted: string) => steps.filter(({ name }) => name === wanted);
  expect(programsOf(only('lint'))).toEqual([]);
  expect(programsOf(only('rules'))).toEqual(['promtool', 'alertmanager', 'amtool']);
  expect(programsOf(only('fuzz'))).toEqual(expect.arrayContaining(['postgres', 'python']));
  expect(optionalProgramsOf(only('faults'))).toEqual(['nginx', 'gstRtsp', 'libfaketime', 'mosquitto']);
});
