/**
 * `make deliberate`: puts each fault of the list into a copy of the last commit, one at a time, and runs the test that
 * has to fail then. A fault that no test notices is a failure of the tests. PATTERN=text chooses faults by their words.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../../deploy/local/settings.ts';
import type { CaughtBySimulation, CaughtBySuite, CaughtByTest, DeliberateFault } from './deliberate-fault.ts';
import { deliberateFaults } from './list.ts';

const pattern = process.env['PATTERN'] ?? '';
const chosen = deliberateFaults.filter(({ says, file }) => `${says} ${file}`.includes(pattern));
const folder = mkdtempSync(join(tmpdir(), 'vision-deliberate-'));
const copy = join(folder, 'vision');
let missed = 0;
try {
  run('git', ['worktree', 'add', '--detach', '--quiet', copy], root);
  copyPackages();
  for (const fault of chosen) {
    const outcome = put(fault, () => notice(fault));
    if (outcome !== 'noticed') missed += 1;
    console.log(`${outcome.padEnd(12)} ${fault.says}`);
  }
} finally {
  run('git', ['worktree', 'remove', '--force', copy], root);
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${chosen.length - missed} passed, ${missed} failed`);
process.exitCode = missed === 0 ? 0 : 1;

/** Hard links cost no space; links between the packages of the workspace are relative, so they point into the copy. */
function copyPackages(): void {
  const folders = run('git', ['ls-files', '*package.json'], root).split('\n').filter(Boolean);
  for (const file of folders) {
    const modules = join(file.slice(0, -'package.json'.length), 'node_modules');
    if (existsSync(join(root, modules))) run('cp', ['-al', join(root, modules), join(copy, modules)], root);
  }
}

function put(fault: DeliberateFault, work: () => string): string {
  const file = join(copy, fault.file);
  const text = readFileSync(file, 'utf8');
  if (text.split(fault.find).length !== 2) return 'has no place';
  writeFileSync(
    file,
    text.replace(fault.find, () => fault.replace),
  );
  try {
    return work();
  } finally {
    writeFileSync(file, text);
  }
}

interface Report {
  numFailedTests: number;
  numPassedTests: number;
}

function notice({ caughtBy }: DeliberateFault): string {
  if ('world' in caughtBy) return simulate(caughtBy);
  const results = join(folder, 'results.json');
  rmSync(results, { force: true });
  const isSuite = 'invariant' in caughtBy;
  const said = isSuite ? runSuite(caughtBy, results) : runTest(caughtBy, results);
  if (!existsSync(results)) return 'did not run';
  const { numFailedTests, numPassedTests } = JSON.parse(readFileSync(results, 'utf8')) as Report;
  if (numFailedTests + numPassedTests === 0) return 'has no test';
  if (numFailedTests === 0) return 'NOT NOTICED';
  return !isSuite || said.includes(`BROKEN ${caughtBy.invariant}`) ? 'noticed' : 'NOT NOTICED';
}

function runTest({ file, test }: CaughtByTest, results: string): string {
  const name = test.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const jest = ['node_modules/jest/bin/jest.js', '--json', `--outputFile=${results}`];
  const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const { stdout } = spawnSync(process.execPath, [...flags, ...jest, file, '--testNamePattern', name], {
    cwd: copy,
    encoding: 'utf8',
  });
  return stdout;
}

function runSuite({ seed, minutes, failovers }: CaughtBySuite, results: string): string {
  const { stdout } = spawnSync(process.execPath, ['--conditions=@vision/source', 'test/faults/run.ts', results], {
    cwd: copy,
    encoding: 'utf8',
    env: { ...process.env, SEED: String(seed), MINUTES: String(minutes), FAILOVERS: String(failovers), REPORT: '' },
  });
  return stdout;
}

/** The long way from a seed to the next broken schedule has to be found once; then its seed is enough. */
function simulate({ world }: CaughtBySimulation): string {
  const play = (env: Record<string, string>) =>
    spawnSync(process.execPath, ['--conditions=@vision/source', 'test/simulation/run.ts'], {
      cwd: copy,
      encoding: 'utf8',
      env: { ...process.env, ONLY: world, ...env },
    }).stdout;
  const seed = /BROKEN at seed (\d+)/.exec(play({ SEED: '1', MINUTES: '2' }))?.[1];
  if (seed === undefined) return 'NOT NOTICED';
  return play({ SEED: seed, MINUTES: '' }).includes(`BROKEN at seed ${seed}`) ? 'noticed' : 'NOT REPLAYED';
}

function run(command: string, args: string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  return stdout;
}
