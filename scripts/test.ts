/**
 * `node scripts/test.ts [step …]` runs the named steps, or all of them, and goes on after a failed one. Steps that need
 * infrastructure or the whole system get a copy of their own, which is stopped at the end if it was started here.
 * Everything that they use is installed before the first one. Exit code: that of the first failure. Last line:
 * `N passed, N failed`, the tests of all steps together, with `, N skipped` when there are any; before it those that
 * failed, each with its reason.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';
import { runningPid, startedPrograms } from '../deploy/local/background.ts';
import { isAlive } from '../deploy/local/lock.ts';
import { readEnvFile } from '../deploy/local/secrets.ts';
import { readSettings, root } from '../deploy/local/settings.ts';
import { becomesTrue } from '../deploy/local/wait.ts';
import { checkPages, freshnessLines } from './release/stale-pages.ts';
import { installNeeds } from './test-needs.ts';
import { readCounts } from './test-results.ts';
import { resultsOf, steps } from './test-steps.ts';
import type { Step } from './test-steps.ts';

const localDir = join(readSettings().localDir, 'test');
const nodeFlags = ['--conditions=@vision/source'];

/**
 * No step takes longer on a machine that can run the system. A fault run lasts as long as its arguments say, then until
 * each fault has struck often enough, and checks everything that happened.
 */
const LIMIT_MS = (30 + 2 * Number(process.env['MINUTES'] ?? 0)) * 60_000;

/**
 * Tests start more streams at once than a busy machine computes, lets wait or accepts in time; what it takes has tests
 * of its own.
 */
const SYSTEM_UNDER_TEST = {
  JOBS_PER_WORKER: '64',
  LIVE_JOBS_PER_WORKER: '40',
  PLACE_QUEUE: '400',
  SUBMIT_TIMEOUT_MS: '15000',
  PROBE_TOTAL_MS: '30000',
};

const started = Date.now();
const outcome = { passed: 0, failed: 0, skipped: 0, exitCode: 0, failedNames: [] as string[] };
/** What this run started is what it stops: the infrastructure may have been running, or be started by someone else. */
const run = { interrupted: false, startedBelow: false, startedServices: false, ownSystems: new Set<string>() };
const current = new Set<ChildProcess>();

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (!run.interrupted) for (const child of current) endGroup(child);
    run.interrupted = true;
  });
}

try {
  const chosen = chosenSteps(process.argv.slice(2));
  installNeeds(chosen);
  // From here on nothing is installed: steps run several workers at once.
  process.env['VISION_INSTALL'] = 'never';
  const turns = inTurn(chosen);
  for (const [at, together] of turns.entries()) {
    if (run.interrupted) break;
    await Promise.all(together.map(runStep));
    await stopIdleSystem(turns.slice(at + 1));
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  outcome.failed += 1;
  outcome.exitCode ||= 1;
} finally {
  await stopWhatWasStarted();
}
if (run.interrupted) outcome.exitCode ||= 130;
if (process.argv.length === 2) for (const line of freshnessLines(checkPages(root))) console.log(line);
for (const name of outcome.failedNames) console.log(`failed       ${name}`);
console.log(`after ${Math.round((Date.now() - started) / 1000)} s`);
const skipped = outcome.skipped > 0 ? `, ${outcome.skipped} skipped` : '';
console.log(`${outcome.passed} passed, ${outcome.failed} failed${skipped}`);
process.exitCode = outcome.exitCode;

function chosenSteps(names: string[]): Step[] {
  if (names.length === 0) return steps.filter(({ isOnDemand }) => isOnDemand !== true);
  return names.map((name) => {
    const step = steps.find((known) => known.name === name);
    if (!step) throw new Error(`Steps: ${steps.map((known) => known.name).join(', ')}`);
    return step;
  });
}

/** The steps that run together, in the order of the list. */
function inTurn(chosen: readonly Step[]): Step[][] {
  const turns: Step[][] = [];
  let beside: Step[] = [];
  for (const step of chosen) {
    beside.push(step);
    if (step.isBesideNext) continue;
    turns.push(beside);
    beside = [];
  }
  return beside.length > 0 ? [...turns, beside] : turns;
}

async function runStep(step: Step): Promise<void> {
  const from = Date.now();
  const results = resultsOf(step.name);
  mkdirSync(dirname(results), { recursive: true });
  rmSync(results, { force: true });
  if (step.needs === 'own system') run.ownSystems.add(join(readSettings().localDir, step.name));
  const prepared = await prepare(step.needs);
  const lastLines: string[] = [];
  const env = { ...process.env, ...testVariables() };
  const exitCode = prepared === 0 ? await execute(step.command, env, step.isStatic && lastLines) : prepared;
  const counts = readCounts(results);
  outcome.passed += counts.passed;
  outcome.skipped += counts.skipped.length;
  for (const name of counts.skipped) console.log(`skipped      ${name}`);
  // A check that is no test run, or a run that never began, counts as one.
  outcome.failed += counts.failed || (exitCode === 0 ? 0 : 1);
  if (exitCode !== 0 && counts.failedNames.length === 0)
    outcome.failedNames.push([`the step ${step.name}`, ...lastLines].join(' | ').slice(0, 1000));
  else outcome.failedNames.push(...counts.failedNames);
  outcome.exitCode ||= exitCode;
  console.log(
    `${step.name.padEnd(12)} ${exitCode === 0 ? 'ok' : 'FAILED'} (${Math.round((Date.now() - from) / 1000)} s)`,
  );
}

async function prepare(needs: Step['needs']): Promise<number> {
  if (needs === 'nothing' || needs === 'own system') return 0;
  run.startedBelow ||= !runningNames(localDir).includes('postgres');
  if (needs === 'infrastructure') return local('test-infra');
  // Steps of one run share the system that the first of them started.
  if (run.startedServices) return 0;
  run.startedServices = true;
  // A system that was left from before may run older code.
  const stopped = await local('test-down', 'services');
  return stopped || execute(localCommand('test-up'), { ...process.env, ...SYSTEM_UNDER_TEST });
}

/** A system that waits for requests would still take a part of the machine. */
async function stopIdleSystem(later: readonly Step[][]): Promise<void> {
  if (!run.startedServices || later.length === 0 || later.flat().some(({ needs }) => needs === 'system')) return;
  run.startedServices = false;
  await local('test-down', 'services');
}

async function stopWhatWasStarted(): Promise<void> {
  if (run.startedBelow) await local('test-down');
  else if (run.startedServices) await local('test-down', 'services');
  // These stop their own copy, unless they were interrupted.
  for (const folder of run.ownSystems) {
    if (runningNames(join(folder, 'test')).length === 0) continue;
    const command = [process.execPath, ...nodeFlags, 'deploy/local/main.ts', 'test-down'];
    await execute(command, { ...process.env, VISION_LOCAL_DIR: folder });
  }
}

async function local(...args: string[]): Promise<number> {
  return execute(localCommand(...args), process.env);
}

function localCommand(...args: string[]): string[] {
  return [process.execPath, ...nodeFlags, 'deploy/local/main.ts', ...args];
}

/** With `lastLines`, those that the program writes last are kept there as well. */
async function execute(
  [command = '', ...args]: string[],
  env: NodeJS.ProcessEnv,
  lastLines?: string[] | false,
): Promise<number> {
  const path = [join(root, 'node_modules/.bin'), env['PATH']].join(delimiter);
  // A process group of its own, so that a step ends with all its workers, and Ctrl-C reaches it through here only.
  const child = spawn(command, args, {
    cwd: root,
    env: { ...env, PATH: path },
    stdio: lastLines ? ['inherit', 'pipe', 'pipe'] : 'inherit',
    detached: true,
  });
  if (lastLines) keepLast(child, lastLines);
  current.add(child);
  const limit = setTimeout(() => {
    console.log(`(no end after ${LIMIT_MS / 60_000} minutes: stopped)`);
    endGroup(child);
  }, LIMIT_MS);
  const exitCode = await new Promise<number>((done) => {
    child.once('error', () => done(127));
    child.once('exit', (code) => done(code ?? 1));
  });
  clearTimeout(limit);
  current.delete(child);
  await sweep(child);
  return exitCode;
}

/** The end of the output is often all that is kept of a run, so the last lines of a failed check stand there too. */
function keepLast(child: ChildProcess, lines: string[]): void {
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const) {
    if (!from) continue;
    from.pipe(to, { end: false });
    createInterface(from).on('line', (line) => {
      const said = stripVTControlCharacters(line).trim();
      if (said !== '') lines.push(said);
      if (lines.length > 6) lines.shift();
    });
  }
}

/**
 * A program that a failed test left behind would go on using the machine; workers get a moment to end by themselves.
 */
async function sweep({ pid }: ChildProcess): Promise<void> {
  const group = -(pid ?? Number.MAX_SAFE_INTEGER);
  const isGone = async () => !isAlive(group);
  if (await becomesTrue(isGone, { timeoutMs: 2000 })) return;
  console.log('(the step left programs running; they are ended)');
  process.kill(group, 'SIGKILL');
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  const send = (signal: NodeJS.Signals) => {
    try {
      process.kill(-pid, signal);
    } catch {
      // The whole group is gone already.
    }
  };
  send('SIGTERM');
  setTimeout(() => send('SIGKILL'), 15_000).unref();
}

function testVariables(): Record<string, string> {
  // Test files load the model in processes of the test runner, whose environment they cannot change.
  // Tests start processes by the hundred; half of what each one computes until it is ready is compiling.
  const compiled = { NODE_COMPILE_CACHE: join(localDir, 'compiled') };
  return { ...readEnvFile(join(localDir, 'env')), ORT_DISABLE_TELEMETRY: '1', ...compiled };
}

function runningNames(copyDir: string): string[] {
  const copy = { ...readSettings(), localDir: copyDir };
  return startedPrograms(copy).filter((name) => runningPid(copy, name) !== undefined);
}
