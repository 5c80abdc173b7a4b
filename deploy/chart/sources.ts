import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { chartDir, goldenDir } from './examples.ts';

/** Where the digest of what the renders were made from stands. */
export const sourcesFile = join(goldenDir, 'SOURCES');

/**
 * A digest of what a change of which has to render anew. What is generated from the code (facts, schema) is not part of
 * it, so that a new setting of a service does not ask for Helm; `make chart` compares the renders themselves.
 */
export function sourcesDigest(): string {
  const patterns = [
    'Chart.yaml',
    '.helmignore',
    'values.yaml',
    'templates/**/*.*',
    'examples/*.yaml',
    'files/{alerts.yaml,smoke/*}',
  ];
  const files = globSync(patterns.map((pattern) => join(chartDir, pattern))).sort();
  const hash = createHash('sha256');
  for (const file of files)
    hash
      .update(`${relative(chartDir, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  return hash.digest('hex');
}
