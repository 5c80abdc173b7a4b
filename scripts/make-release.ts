/**
 * `make release`: everything that a release consists of, in .local/release/<version>. Only at the commit of a release
 * has it a version without suffix. WITHOUT=images leaves the images out, and the chart then names tags.
 */
import { join } from 'node:path';
import { root } from '../deploy/local/settings.ts';
import { makeRelease } from './release/bundle/make.ts';

try {
  await makeRelease({
    key: process.env['RELEASE_KEY'],
    withoutImages: process.env['WITHOUT'] === 'images',
    parent: join(root, '.local/release'),
  });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
