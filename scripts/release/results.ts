import type { Suite } from './suites.ts';

/** How a suite ended last. */
export interface Result {
  suite: string;
  passed: boolean;
  /** Twelve digits of the commit. */
  commit: string;
  /** `2026-11-23 14:05` in UTC. */
  endedAt: string;
  seconds: number;
  /** Why it failed; the last line that it printed, as a rule. Empty when it passed. */
  reason: string;
}

/** docs/release-check.md. It is also the memory of `make release-check`: `readResults` reads the table back. */
export function releasePage(suites: readonly Suite[], results: ReadonlyMap<string, Result>): string {
  const rows = suites.map(({ name, limitMinutes }) => {
    const result = results.get(name);
    if (!result) return `| \`${name}\` | not run | | | | ${limitMinutes} min | |`;
    const { commit, endedAt, seconds, passed, reason } = result;
    const cells = [
      `\`${name}\``,
      passed ? 'passed' : 'failed',
      `\`${commit}\``,
      endedAt,
      `${seconds} s`,
      `${limitMinutes} min`,
    ];
    return `| ${[...cells, cell(reason)].join(' | ')} |`;
  });
  return [
    '# Release check',
    '',
    'Written by `make release-check`, which runs the suites that a release needs beside `make test`. A row says how the',
    'suite ended last, and with which commit. A suite that passed with the same code is not repeated.',
    '[CONTRIBUTING.md](../CONTRIBUTING.md#how-to-release) says when to run it.',
    '',
    '| suite | result | commit | ended (UTC) | took | limit | reason |',
    '|---|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** The rows of suites that have run. */
export function readResults(page: string): Map<string, Result> {
  const row =
    /^\| `([\w-]+)` +\| (passed|failed) +\| `([0-9a-f]+)` +\| (\d{4}-\d\d-\d\d \d\d:\d\d) +\| (\d+) s +\| \d+ min +\| (.*?) *\|$/gm;
  const results = [...page.matchAll(row)].map(
    ([, suite = '', word, commit = '', endedAt = '', seconds = '', reason = '']): Result => ({
      suite,
      passed: word === 'passed',
      commit,
      endedAt,
      seconds: Number(seconds),
      reason,
    }),
  );
  return new Map(results.map((result) => [result.suite, result]));
}

/** Text of a program inside one cell: no column, no markup, one line. */
const cell = (text: string) =>
  text
    .replaceAll(/[|`*_<>[\]\\]/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 160);
