import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench, Figure } from './figures.ts';

/**
 * Runs every `bench/*.bench.ts` in turn, or those named on the command line (`node … bench/run.ts quota`),
 * prints a table and writes `bench/results/latest.json`. One after the other: figures of runs that share the
 * machine say nothing.
 */
const here = import.meta.dirname;
const wanted = process.argv.slice(2);
const files = (await readdir(here)).filter((file) => file.endsWith('.bench.ts')).sort();
const chosen = files.filter((file) => wanted.length === 0 || wanted.includes(file.replace('.bench.ts', '')));
const results: { name: string; figures: Figure[]; error?: string }[] = [];

for (const file of chosen) {
  const benchmark = (await import(join(here, file))) as Bench;
  process.stdout.write(`${benchmark.name}\n`);
  try {
    const { figures } = await benchmark.run();
    results.push({ name: benchmark.name, figures });
    for (const figure of figures) process.stdout.write(lineOf(figure));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    results.push({ name: benchmark.name, figures: [], error: message });
    process.stdout.write(`  failed: ${message}\n`);
    process.exitCode = 1;
  }
}

await mkdir(join(here, 'results'), { recursive: true });
const report = { at: new Date().toISOString(), node: process.version, results };
await writeFile(join(here, 'results/latest.json'), `${JSON.stringify(report, null, 2)}\n`);
// Clients of some benchmarks keep idle connections; everything is written by now.
process.exit();

function lineOf({ name, value, unit, target }: Figure): string {
  const shown = Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
  return `  ${name.padEnd(58)} ${shown.padStart(9)} ${unit.padEnd(10)}${target ? ` (target ${target})` : ''}\n`;
}
