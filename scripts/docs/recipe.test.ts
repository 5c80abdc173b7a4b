import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { missingHistory } from '../release/repository.ts';

const root = join(import.meta.dirname, '../..');
const contributing = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').replaceAll(/\s+/g, ' ');

// A copy of the files alone has no commits.
(missingHistory(root) === undefined ? test : test.skip)(
  'the example of an added operation is a commit with that subject and at most ten files',
  () => {
    const [, commit = '', subject] = /An example is commit (\w+), "([^"]+)"/.exec(contributing) ?? [];
    const { stdout } = spawnSync('git', ['show', '--format=%s', '--name-only', commit], {
      cwd: root,
      encoding: 'utf8',
    });
    const [found, ...files] = stdout.split('\n').filter(Boolean);
    expect(found).toBe(subject);
    expect(files.length).toBeLessThanOrEqual(10);
  },
);
