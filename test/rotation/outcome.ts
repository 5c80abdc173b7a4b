import { join } from 'node:path';
import { writeCounts } from '../../scripts/test-results.ts';
import { writeSection } from '../../scripts/release/written-section.ts';
import type { Failure } from './requests.ts';

/** How one rotation went. */
export interface Rotated {
  name: string;
  says: string;
  steps: readonly string[];
  /** Processes that were replaced. */
  restarts: number;
  seconds: number;
  requests: number;
  failures: readonly Failure[];
  /** What the old secret still opened. */
  stillOpen: readonly string[];
}

export interface Outcome {
  rotated: readonly Rotated[];
  /** What must hold at the end, and what breaks it. */
  verdicts: { id: string; says: string; breaches: readonly string[] }[];
  facts: string[];
}

/** Prints the outcome; `REPORT=1` also writes it to docs/kubernetes.md. @returns whether anything was wrong */
export function tell({ rotated, verdicts, facts }: Outcome, countsFile?: string): boolean {
  for (const { name, restarts, requests, failures, stillOpen } of rotated) {
    const isRight = failures.length === 0 && stillOpen.length === 0;
    console.log(
      `${isRight ? 'held  ' : 'BROKEN'} ${name.padEnd(16)} ${restarts} restarts, ${requests} requests, ${failures.length} failed`,
    );
    for (const { says } of failures.slice(0, 10)) console.log(`         ${says}`);
    for (const open of stillOpen) console.log(`         ${open}`);
  }
  for (const { id, says, breaches } of verdicts) {
    console.log(`${breaches.length === 0 ? 'held  ' : 'BROKEN'} ${id.padEnd(16)} ${says}`);
    for (const breach of breaches.slice(0, 10)) console.log(`         ${breach}`);
  }
  for (const fact of facts) console.log(`         ${fact}`);
  const broken = rotated.filter(({ failures, stillOpen }) => failures.length + stillOpen.length > 0).length;
  const breached = verdicts.filter(({ breaches }) => breaches.length > 0).length;
  if (countsFile)
    writeCounts(countsFile, [
      ...rotated.map(({ name, failures, stillOpen }) => ({
        name,
        reasons: [...failures.map(({ says }) => says), ...stillOpen],
      })),
      ...verdicts.map(({ id, says, breaches }) => ({ name: `${id}: ${says}`, reasons: breaches })),
    ]);
  if (process.env['REPORT']) record({ rotated, verdicts, facts });
  return broken + breached > 0;
}

function record({ rotated, facts }: Outcome): void {
  const rows = rotated.map(
    ({ says, steps, restarts, requests, failures, stillOpen }) =>
      `| ${says} | ${steps.length} | ${restarts} | ${requests} | ${failures.length} | ${stillOpen.length === 0 ? 'refused' : 'accepted'} |`,
  );
  const table = [
    '| Rotated | Steps | Processes replaced | Requests | Failed | Old one afterwards |',
    '|---|---|---|---|---|---|',
    ...rows,
  ];
  const text = [...table, '', ...facts.map((fact) => `- ${fact}`)].join('\n');
  writeSection(join(import.meta.dirname, '../..'), 'rotate', text);
}
