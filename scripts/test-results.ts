import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { root } from '../deploy/local/settings.ts';

interface Report {
  numPassedTests?: number;
  numFailedTests?: number;
  numRuntimeErrorTestSuites?: number;
  testResults?: { name: string; status: string; assertionResults: TestResult[] }[];
}

interface TestResult {
  status: string;
  fullName: string;
  failureMessages?: string[];
}

export interface Counts {
  passed: number;
  failed: number;
  /** Names of tests, or of files that did not run. */
  failedNames: string[];
  /** A skipped test says in its name what it needs. */
  skipped: string[];
}

/** What a step wrote into its file of counts (`resultsOf`), or nothing. */
export function readCounts(file: string): Counts {
  const report = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Report) : {};
  const files = report.testResults ?? [];
  const withStatus = (wanted: string) =>
    files.flatMap(({ assertionResults }) => assertionResults.filter(({ status }) => status === wanted));
  const notRun = files.filter(({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0);
  return {
    passed: report.numPassedTests ?? 0,
    failed: (report.numFailedTests ?? 0) + (report.numRuntimeErrorTestSuites ?? 0),
    failedNames: [...withStatus('failed').map(nameAndReason), ...notRun.map(({ name }) => relative(root, name))],
    skipped: withStatus('pending').map(({ fullName }) => fullName),
  };
}

/** The end of the output is often all that is kept, so the reason stands beside the name. */
function nameAndReason({ fullName, failureMessages: [message = ''] = [] }: TestResult): string {
  const lines = stripVTControlCharacters(message).split('\n');
  const place = lines.find((line) => line.includes('.test.ts:'))?.match(/[\w-]+\.test\.ts:\d+/)?.[0];
  const reason = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('at '));
  return [fullName, place, ...reason.slice(0, 4)].filter(Boolean).join(' | ').slice(0, 600);
}

/** A check that is no test of the test runner: it held when there are no reasons. */
export interface Check {
  name: string;
  reasons: readonly string[];
}

/** Writes the outcome of checks in the form in which the test runner writes that of tests. */
export function writeCounts(file: string, checks: readonly Check[]): void {
  const failed = checks.filter(({ reasons }) => reasons.length > 0);
  const assertionResults = failed.map(({ name, reasons }) => ({
    status: 'failed',
    fullName: name,
    failureMessages: [reasons.join('\n')],
  }));
  const report: Report = {
    numPassedTests: checks.length - failed.length,
    numFailedTests: failed.length,
    testResults: [{ name: file, status: failed.length > 0 ? 'failed' : 'passed', assertionResults }],
  };
  writeFileSync(file, JSON.stringify(report));
}
