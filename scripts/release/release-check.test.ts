import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { releaseCheck } from './release-check.ts';
import { readResults, releasePage } from './results.ts';
import { missingNeeds } from './run-suite.ts';
import { suites } from './suites.ts';
import type { Suite } from './suites.ts';

let root: string;
let lines: string[];
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args], { cwd: root });

function commit(text: string): void {
  writeFileSync(join(root, 'code.ts'), text);
  git('add', '--all');
  git('commit', '--quiet', '--message', 'a change');
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'vision-release-'));
  lines = [];
  git('init', '--quiet');
  mkdirSync(join(root, 'docs'));
  writeFileSync(join(root, '.gitignore'), '.local/\n');
  commit('1');
});
afterEach(() => rmSync(root, { recursive: true }));

const good: Suite = { name: 'good', command: 'echo once >> .local/runs', limitMinutes: 1 };
const bad: Suite = {
  name: 'bad',
  command: 'echo "the table | is gone"; echo "make: *** [x] Error 1"; exit 3',
  limitMinutes: 1,
};
const runs = () => readFileSync(join(root, '.local/runs'), 'utf8').split('\n').length - 1;
const page = () => readFileSync(join(root, 'docs/release-check.md'), 'utf8');

const check = (suites: Suite[], only: string[] = [], stale: string[] = []) =>
  releaseCheck({
    root,
    suites,
    only,
    signal: new AbortController().signal,
    say: (line) => lines.push(line),
    pages: () => ({ stale: stale.map((one) => ({ page: one, reasons: ['changed'] })) }),
  });

describe('release-check', () => {
  test('a suite that passed is not repeated until the code changes', async () => {
    expect(await check([good])).toBe(true);
    git('add', '--all');
    git('commit', '--quiet', '--message', 'the page');
    expect(await check([good])).toBe(true);
    expect(lines.at(-2)).toMatch(/^good: passed at [0-9a-f]{12} on .*, not repeated$/);
    expect(runs()).toBe(1);
    commit('2');
    expect(await check([good])).toBe(true);
    expect(runs()).toBe(2);
  });

  test('a suite that failed fails the run with its last words, and is repeated', async () => {
    expect(await check([bad, good])).toBe(false);
    expect(lines).toContainEqual(expect.stringMatching(/^bad: FAILED: the table \| is gone/));
    expect(lines.at(-1)).toBe('1 passed, 1 failed (bad); 0 stale pages');
    expect([...readResults(page()).values()]).toMatchObject([
      { suite: 'bad', passed: false, reason: 'the table is gone' },
      { suite: 'good', passed: true },
    ]);
    expect(await check([bad, good], ['bad'])).toBe(false);
    expect(lines.at(-1)).toBe('0 passed, 1 failed (bad); 0 stale pages');
  });

  test('a dirty tree is named, and its results are not remembered', async () => {
    writeFileSync(join(root, 'code.ts'), 'other');
    expect(await check([good])).toBe(true);
    expect(lines[0]).toMatch(/^1 uncommitted changes \(code\.ts/);
    expect(existsSync(join(root, 'docs/release-check.md'))).toBe(false);
    expect(await check([good])).toBe(true);
    expect(runs()).toBe(2);
  });

  test('a suite during which the code changed does not pass', async () => {
    const edits = { ...good, command: 'echo changed > code.ts' };
    expect(await check([edits])).toBe(false);
    expect(lines).toContainEqual(expect.stringContaining('the code changed during the run'));
    expect(existsSync(join(root, 'docs/release-check.md'))).toBe(false);
  });

  test('a stale page fails the run', async () => {
    expect(await check([good], [], ['docs/why.md'])).toBe(false);
    expect(lines.at(-1)).toBe('1 passed, 0 failed; 1 stale pages');
  });

  test('a suite that does not end is ended at its limit, with all its programs', async () => {
    const endless = { name: 'endless', command: 'sleep 600 & echo $! > .local/pid; wait', limitMinutes: 0.02 };
    expect(await check([endless])).toBe(false);
    expect(lines).toContainEqual(expect.stringMatching(/^endless: FAILED: no end after 0.02 min/));
    const pid = readFileSync(join(root, '.local/pid'), 'utf8').trim();
    const state = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : 'gone Z';
    expect(state).toMatch(/ Z|gone/);
  });

  test('a suite that left something out counts as failed', async () => {
    const partly = { ...good, command: 'echo "strimzi  not compared: needs Java 21"', leftOut: /(not compared: .+)/ };
    expect(await check([partly])).toBe(false);
    expect(lines).toContainEqual(expect.stringMatching(/^good: FAILED: not compared: needs Java 21/));
  });

  test('refuses the name of a suite that does not exist', async () => {
    await expect(check([good], ['goood'])).rejects.toThrow('No suite goood; there are good');
  });
});

test('every suite runs targets that the Makefile has', () => {
  const makefile = readFileSync(join(import.meta.dirname, '../../Makefile'), 'utf8');
  const named = /make (?:-s )?([a-z-]+)/g;
  const targets = suites.flatMap(({ command }) => [...command.matchAll(named)].map(([, name]) => name));
  expect(targets.length).toBeGreaterThanOrEqual(suites.length);
  expect(targets.filter((name) => !new RegExp(`^(.* )?${name}( .*)?:`, 'm').test(makefile))).toEqual([]);
});

test('chart-run runs the chart of the release just made, in any local directory', () => {
  const { command = '' } = suites.find(({ name }) => name === 'chart-run') ?? {};
  const make = 'make() { case "$*" in "-s version") echo 1.2.3;; chart-run) echo "runs $RELEASE";; esac; }';
  const ran = (folder: string) =>
    execFileSync('sh', ['-c', `${make}; node() { exit 1; }; ${command}`], {
      env: { ...process.env, VISION_LOCAL_DIR: folder },
      encoding: 'utf8',
    });
  expect(ran('/elsewhere')).toBe('runs /elsewhere/release-proof/1.2.3\n');
  expect(ran('')).toBe('runs .local/release-proof/1.2.3\n');
});

test('a suite says what the machine lacks', () => {
  const suite: Suite = { ...good, needsRoot: true, needs: ['sh', 'no-such-program'] };
  expect(missingNeeds(suite, 1000)).toBe('needs root');
  expect(missingNeeds(suite, 0)).toBe('needs no-such-program');
  expect(missingNeeds({ ...suite, needs: ['sh'] }, 0)).toBeUndefined();
});

test('the page in docs lists every suite, with its limit', async () => {
  const file = join(import.meta.dirname, '../../docs/release-check.md');
  const written = releasePage(suites, readResults(readFileSync(file, 'utf8')));
  const options = { ...(await resolveConfig(file)), parser: 'markdown' };
  expect(readFileSync(file, 'utf8')).toBe(await format(written, options));
});

test('the page keeps results and names suites that have not run', () => {
  const result = {
    suite: 'bad',
    passed: false,
    commit: '0123456789ab',
    endedAt: '2026-11-23 14:05',
    seconds: 12,
    reason: 'x',
  };
  const text = releasePage([good, bad], new Map([['bad', result]]));
  expect(readResults(text)).toEqual(new Map([['bad', result]]));
  expect(text).toContain('| `good` | not run |');
});
