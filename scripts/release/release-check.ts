import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { RELEASE_PAGE } from './measurements.ts';
import { currentCommit, hasSameCode, modifiedFiles } from './repository.ts';
import { readResults, releasePage } from './results.ts';
import type { Result } from './results.ts';
import { runSuite } from './run-suite.ts';
import { checkPages, freshnessLines } from './stale-pages.ts';
import type { Freshness } from './stale-pages.ts';
import type { Suite } from './suites.ts';

export interface Check {
  root: string;
  suites: readonly Suite[];
  /** Names of the suites to run; all of them when it is empty. */
  only: readonly string[];
  signal: AbortSignal;
  say: (line: string) => void;
  pages?: (root: string) => Freshness;
}

/** Runs the chosen suites that have not passed with this code yet. @returns whether all passed and no page is stale */
export async function releaseCheck({ root, suites, only, signal, say, pages = checkPages }: Check): Promise<boolean> {
  const unknown = only.filter((name) => !suites.some((suite) => suite.name === name));
  if (unknown.length > 0) throw new Error(`No suite ${unknown.join(', ')}; there are ${namesOf(suites)}`);
  const modified = modifiedFiles(root);
  if (modified.length > 0)
    say(`${modified.length} uncommitted changes (${modified[0] ?? ''} …): results are not remembered`);
  const chosen = suites.filter(({ name }) => only.length === 0 || only.includes(name));
  const failed: string[] = [];
  for (const suite of chosen) {
    if (signal.aborted) break;
    const earlier = remembered(root).get(suite.name);
    if (modified.length === 0 && earlier?.passed === true && hasSameCode(root, earlier.commit)) {
      say(`${suite.name}: passed at ${earlier.commit} on ${earlier.endedAt}, not repeated`);
      continue;
    }
    if (!(await runOne(suite, { root, suites, signal, say }))) failed.push(suite.name);
  }
  const freshness = pages(root);
  for (const line of freshnessLines(freshness)) say(line);
  const stale = freshness.stale.length;
  const pagesText = freshness.notChecked === undefined ? `${stale} stale pages` : 'pages not checked';
  say(`${chosen.length - failed.length} passed, ${failed.length} failed${listOf(failed)}; ${pagesText}`);
  return failed.length === 0 && stale === 0 && !signal.aborted;
}

async function runOne(suite: Suite, { root, suites, signal, say }: Omit<Check, 'only'>): Promise<boolean> {
  const { name, limitMinutes } = suite;
  const logFile = join(root, '.local/release-check', `${name}.log`);
  say(`${name}: running, at most ${limitMinutes} min (.local/release-check/${name}.log)`);
  const commit = currentCommit(root);
  const ended = await runSuite(suite, { cwd: root, logFile, signal, say });
  const isSameCode = currentCommit(root) === commit;
  const passed = ended.passed && isSameCode;
  const reason = ended.passed && !isSameCode ? 'the code changed during the run' : ended.reason;
  say(`${name}: ${passed ? 'passed' : `FAILED: ${reason}`} (${ended.seconds} s)`);
  // Neither uncommitted code nor a run that a person broke off is a result of a commit.
  if (/^[0-9a-f]{40}$/.test(commit) && isSameCode && !signal.aborted) {
    const endedAt = new Date().toISOString().slice(0, 16).replace('T', ' ');
    const result = { suite: name, passed, commit: commit.slice(0, 12), endedAt, seconds: ended.seconds, reason };
    await remember(root, suites, result);
  }
  return passed;
}

function remembered(root: string): Map<string, Result> {
  const file = join(root, RELEASE_PAGE);
  return existsSync(file) ? readResults(readFileSync(file, 'utf8')) : new Map<string, Result>();
}

async function remember(root: string, suites: readonly Suite[], result: Result): Promise<void> {
  const file = join(root, RELEASE_PAGE);
  const page = releasePage(suites, remembered(root).set(result.suite, result));
  writeFileSync(file, await format(page, { ...(await resolveConfig(file)), parser: 'markdown' }));
}

const namesOf = (suites: readonly Suite[]) => suites.map(({ name }) => name).join(', ');
const listOf = (names: readonly string[]) => (names.length === 0 ? '' : ` (${names.join(', ')})`);
