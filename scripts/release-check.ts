/**
 * `make release-check`: runs what `make test` does not and writes docs/release-check.md. `ONLY=name,name` runs some of
 * the suites. Exit code 1 when a suite fails or a page shows measurements of older code.
 */
import { join } from 'node:path';
import { releaseCheck } from './release/release-check.ts';
import { suites } from './release/suites.ts';

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort());

const isGood = await releaseCheck({
  root: join(import.meta.dirname, '..'),
  suites,
  only: (process.env['ONLY'] ?? '').split(',').filter(Boolean),
  signal: interrupted.signal,
  say: (line) => console.log(line),
});
process.exitCode = isGood ? 0 : 1;
