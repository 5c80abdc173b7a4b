/**
 * `make fuzz MINUTES=10`: tries inputs on every parser, and requests on the running system, for so long altogether.
 * `TARGET=sdp` for one parser, `SEED=1` to begin as a run before did, `KEEP=1` to keep what was learnt with the
 * sources, `REPORT=1` to keep the figures for docs/security.md. An argument names a file for the counts.
 *
 * Without `MINUTES` parsers get the same inputs each time: the same code gets the same verdict.
 */
import { join } from 'node:path';
import { readSettings } from '../../deploy/local/settings.ts';
import { writeCounts } from '../../scripts/test-results.ts';
import { recordRun } from './last-run.ts';
import type { ApiFigures } from './last-run.ts';
import { fuzzParsers } from './parsers.ts';
import type { ParserOutcome } from './parsers.ts';
import { targets } from './targets.ts';

const env = process.env;
const settings = readSettings();
const isGate = !env['MINUTES'];
const minutes = Number(env['MINUTES'] || 1);
const seed = Number(env['SEED'] || (isGate ? 1 : Date.now() % 1_000_000));
const only = env['TARGET'];
const names = only ? Object.keys(targets).filter((name) => name === only) : Object.keys(targets);
if (names.length === 0) throw new Error(`One of: ${Object.keys(targets).join(', ')}`);
const localDir = join(settings.localDir, 'fuzz');
const isKept = Boolean(env['KEEP']);

console.log(`fuzz       seed ${seed}, ${minutes} minutes`);
// Two thirds for the parsers, of which there are many.
const seconds = only ? minutes * 60 : minutes * 40;
const parsers = await fuzzParsers({ names, seconds, seed, localDir, isKept, usesLearnt: !isGate });
const apis = only ? [] : await askApis(minutes * 20);
const isClean = tell(parsers, apis);
if (env['REPORT'] && !only) recordRun({ minutes, parsers: parsers.map(({ figures }) => figures), apis });
process.exitCode = isClean ? 0 : 1;

async function askApis(forSeconds: number): Promise<ApiFigures[]> {
  const { installSchemathesis } = await import('./api/schemathesis.ts');
  const program = installSchemathesis(settings.cacheDir);
  // Reads the addresses of the system when it is loaded.
  const { fuzzApis } = await import('./api/fuzz-api.ts');
  return fuzzApis({ program, seconds: forSeconds, seed, localDir });
}

function tell(ofParsers: readonly ParserOutcome[], ofApis: readonly ApiFigures[]): boolean {
  const inputs = ofParsers.reduce((sum, { figures }) => sum + figures.inputs, 0);
  const requests = ofApis.reduce((sum, figures) => sum + figures.requests, 0);
  const checks = [
    ...ofParsers.map(({ figures, reasons }) => ({ name: `fuzz target ${figures.target}`, reasons })),
    ...ofApis.map(({ api, ...found }) => ({ name: `${api} API`, reasons: reasonsOf(faultsOf(found)) })),
  ];
  const dirty = checks.filter(({ reasons }) => reasons.length > 0);
  console.log(`fuzz       ${inputs} inputs and ${requests} requests; findings in ${dirty.length} of ${checks.length}`);
  if (process.argv[2]) writeCounts(process.argv[2], checks);
  return dirty.length === 0;
}

function faultsOf({ findings, serverErrors, innerHits }: Omit<ApiFigures, 'api'>): Record<string, number> {
  return { findings, 'answers from 500 on': serverErrors, 'connections to inner addresses': innerHits };
}

function reasonsOf(found: Record<string, number>): string[] {
  const some = Object.entries(found).filter(([, times]) => times > 0);
  return some.map(([what, times]) => `${times} ${what}`);
}
