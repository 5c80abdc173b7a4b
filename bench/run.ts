import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench, Figure } from './figures.ts';
import { recordFigures } from './record-figures.ts';
import { boundsText, breaches, shownValue } from './verdict.ts';

/**
 * Runs every `bench/*.bench.ts` in turn, or those named on the command line (`node … bench/run.ts quota`), prints a
 * table and writes `bench/results/latest.json`; `REPORT=1` also writes the figures into their pages. One after the
 * other: figures of runs that share the machine say nothing.
 *
 * Exit code 1 when a benchmark failed or was skipped, or when a ratio breaks its floor or, without a floor, its target.
 */
const here = import.meta.dirname;
const wanted = process.argv.slice(2);
/** Settings under which a benchmark measures a part of what its page shows, or something else. */
const narrowing = ['FLOOD', 'SHAPES', 'TRACKING_DETECTOR', 'TRACKING_HALF', 'FIRE_HALF', 'ANYWAY', 'BROKERS'];
/** Compares with a system that only its caller can name. */
const isRun = (benchmark: string) => benchmark !== 'two-systems' || process.env['OTHER_SYSTEM'] !== undefined;
const benchmarks = (await readdir(here))
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.replace('.bench.ts', ''))
  .sort();
const chosen = wanted.length === 0 ? benchmarks.filter(isRun) : benchmarks.filter((one) => wanted.includes(one));
// What benchmarks share with tests reads the addresses of the running system by the names that tests have for them.
const stores = ['DATABASE_URL', 'REDIS_URL', 'KAFKA_BROKERS', 'S3_ENDPOINT', 'S3_REGION', 'S3_BUCKET', 'S3_ACCESS_KEY'];
for (const name of [...stores, 'S3_SECRET_KEY']) {
  const address = process.env[name];
  if (address !== undefined) process.env[`TEST_${name}`] ??= address;
}
const results: { name: string; figures: Figure[]; error?: string }[] = [];
const failures: string[] = chosen.length === 0 ? [`no benchmark of these: ${wanted.join(', ')}`] : [];

for (const benchmark of chosen) {
  process.stdout.write(`${benchmark}\n`);
  try {
    const { name, run } = (await import(join(here, `${benchmark}.bench.ts`))) as Bench;
    const { figures } = await run();
    results.push({ name, figures });
    for (const figure of figures) process.stdout.write(lineOf(figure));
    failures.push(
      ...(figures.length === 0 ? [`${benchmark}: skipped, nothing was measured`] : breaches(benchmark, figures)),
    );
    if (process.env['REPORT'] && figures.length > 0) record(benchmark, figures);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    results.push({ name: benchmark, figures: [], error: message });
    failures.push(`${benchmark}: failed: ${message}`);
    process.stdout.write(`  failed: ${message}\n`);
  }
}

await mkdir(join(here, 'results'), { recursive: true });
const report = { at: new Date().toISOString(), node: process.version, results };
await writeFile(join(here, 'results/latest.json'), `${JSON.stringify(report, null, 2)}\n`);
for (const failure of failures) process.stdout.write(`missed: ${failure}\n`);
// Clients of some benchmarks keep idle connections; everything is written by now.
process.exit(failures.length === 0 ? 0 : 1);

function record(benchmark: string, figures: readonly Figure[]): void {
  const set = narrowing.filter((name) => process.env[name] !== undefined);
  if (benchmark === 'two-systems') return;
  if (set.length === 0) recordFigures(benchmark, figures);
  else process.stdout.write(`  not recorded, because ${set.join(' and ')} is set\n`);
}

function lineOf(figure: Figure): string {
  const bounds = boundsText(figure);
  const value = `${shownValue(figure).padStart(9)} ${figure.unit.padEnd(10)}`;
  return `  ${figure.name.padEnd(58)} ${value}${bounds ? ` (${bounds})` : ''}\n`;
}
