import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { KEPT, readCorpus, writeCorpus, writeFinding } from './corpus.ts';
import { runTarget } from './engine/run-target.ts';
import type { FuzzReport } from './engine/fuzzer.ts';
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
}

/** Fuzzes the parsers, one on each processor, with an equal share of the time. */
export async function fuzzParsers(options: ParserOptions): Promise<ParserFigures[]> {
  const { names, seconds } = options;
  const threads = Math.min(names.length, availableParallelism(), 4);
  const deadline = Date.now() + seconds * 1000;
  const waiting = [...names];
  const figures: ParserFigures[] = [];
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      // Starting, and choosing what is kept, take their time too.
      const share = (0.8 * (deadline - Date.now()) * threads) / (waiting.length + threads);
      figures.push(await fuzzParser(name, Date.now() + share, options));
    }
  };
  await Promise.all(Array.from({ length: threads }, work));
  return figures.sort((a, b) => a.target.localeCompare(b.target));
}

async function fuzzParser(name: string, until: number, options: ParserOptions): Promise<ParserFigures> {
  const learnt = join(options.localDir, 'corpus');
  const seeds = [...readCorpus(KEPT, name), ...readCorpus(learnt, name)].map(({ bytes }) => bytes);
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
  return { target: name, inputs, inputsPerSecond, edges, edgesHit, findings: findings.length };
}

function tellFindings(name: string, { findings }: FuzzReport, localDir: string): void {
  for (const { error, input } of findings) {
    console.log(`           ${error}\n           input: ${writeFinding(join(localDir, 'findings'), name, input)}`);
  }
}
