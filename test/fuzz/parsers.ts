import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { KEPT, readCorpus, writeCorpus, writeFinding } from './corpus.ts';
import { runTarget } from './engine/run-target.ts';
import type { Finding, FuzzReport } from './engine/fuzzer.ts';
import type { ParserFigures } from './last-run.ts';
import { targets, targetUrl } from './targets.ts';

export interface ParserOptions {
  names: readonly string[];
  seconds: number;
  seed: number;
  /** Where findings go, and what was learnt on this machine. */
  localDir: string;
  /** Whether what was learnt goes to the sources too. */
  isKept: boolean;
  /** Whether to begin with what runs before learnt on this machine. */
  usesLearnt: boolean;
}

export interface ParserOutcome {
  figures: ParserFigures;
  /** Each finding with its input, when that is small. */
  reasons: string[];
}

/** Of an input in base64; a line of the summary holds it. */
const SHOWN_CHARS = 400;

/** Fuzzes the parsers, one on each processor, with an equal share of the time. */
export async function fuzzParsers(options: ParserOptions): Promise<ParserOutcome[]> {
  const { names, seconds } = options;
  const threads = Math.min(names.length, availableParallelism(), 4);
  const deadline = Date.now() + seconds * 1000;
  const waiting = [...names];
  const outcomes: ParserOutcome[] = [];
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      // Starting, and choosing what is kept, take their time too.
      const share = (0.8 * (deadline - Date.now()) * threads) / (waiting.length + threads);
      outcomes.push(await fuzzParser(name, Date.now() + share, options));
    }
  };
  await Promise.all(Array.from({ length: threads }, work));
  return outcomes.sort((a, b) => a.figures.target.localeCompare(b.figures.target));
}

async function fuzzParser(name: string, until: number, options: ParserOptions): Promise<ParserOutcome> {
  const learnt = join(options.localDir, 'corpus');
  const known = [...readCorpus(KEPT, name), ...(options.usesLearnt ? readCorpus(learnt, name) : [])];
  const seeds = known.map(({ bytes }) => bytes);
  const instrumented = targets[name] ?? [];
  const report = await runTarget({ targetUrl: targetUrl(name), instrumented, seeds, seed: options.seed, until });
  const { inputs, edges, edgesHit, findings, corpus } = report;
  const inputsPerSecond = Math.round(inputs / report.seconds);
  const hit = `${edgesHit} of ${edges} edges`;
  console.log(
    `fuzz       ${name.padEnd(16)} ${inputs} inputs, ${inputsPerSecond}/s, ${hit}, ${findings.length} findings`,
  );
  tellFindings(name, report, options.localDir);
  if (corpus.length > 0) writeCorpus(learnt, name, corpus);
  if (corpus.length > 0 && options.isKept) writeCorpus(KEPT, name, corpus);
  const figures = { target: name, inputs, inputsPerSecond, edges, edgesHit, findings: findings.length };
  return { figures, reasons: findings.map(reasonOf) };
}

function reasonOf({ error, input }: Finding): string {
  const shown = input.toString('base64');
  const isShort = shown.length <= SHOWN_CHARS;
  return `${error.replaceAll(/\s+/g, ' ')}; input ${isShort ? shown : `of ${input.length} bytes`}`;
}

function tellFindings(name: string, { findings }: FuzzReport, localDir: string): void {
  for (const { error, input } of findings) {
    console.log(`           ${error}\n           input: ${writeFinding(join(localDir, 'findings'), name, input)}`);
  }
}
