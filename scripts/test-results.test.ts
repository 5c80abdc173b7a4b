import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readCounts, writeCounts } from './test-results.ts';

const file = join(mkdtempSync(join(tmpdir(), 'results-')), 'faults.json');

test('a failed check is listed with its reasons', () => {
  writeCounts(file, [
    { name: 'held', reasons: [] },
    { name: 'stops: none takes longer than 10 s', reasons: ['task 7 took 11200 ms', 'task 8 took 10400 ms'] },
  ]);
  expect(readCounts(file)).toEqual({
    passed: 1,
    failed: 1,
    failedNames: ['stops: none takes longer than 10 s | task 7 took 11200 ms | task 8 took 10400 ms'],
    skipped: [],
  });
});

test('a step that wrote nothing has no counts', () => {
  expect(readCounts(`${file}.none`)).toEqual({ passed: 0, failed: 0, failedNames: [], skipped: [] });
});
