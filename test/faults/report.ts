import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { faults as allFaults } from './nemesis.ts';
import type { Create } from './workload.ts';

export interface Verdict {
  id: string;
  says: string;
  breaches: string[];
}

export interface Run {
  seed: number;
  minutes: number;
  /** Names of the faults in the order in which they struck. */
  faults: string[];
  verdicts: Verdict[];
  creates: Create[];
}

const file = join(import.meta.dirname, '../../docs/reliability.md');

/**
 * Prints the outcome; `REPORT=1` also rewrites the table in docs/reliability.md. @returns whether anything was breached
 */
export function writeReport(run: Run, countsFile?: string): boolean {
  for (const { id, says, breaches } of run.verdicts) {
    console.log(`${breaches.length === 0 ? 'held  ' : 'BROKEN'} ${id.padEnd(6)} ${says}`);
    for (const breach of breaches.slice(0, 10)) console.log(`         ${breach}`);
  }
  const broken = run.verdicts.filter(({ breaches }) => breaches.length > 0);
  console.log(`${run.verdicts.length - broken.length} passed, ${broken.length} failed`);
  const counts = { numPassedTests: run.verdicts.length - broken.length, numFailedTests: broken.length };
  if (countsFile) writeFileSync(countsFile, JSON.stringify(counts));
  if (process.env['REPORT']) writeFileSync(file, document(run));
  return broken.length > 0;
}

function document({ seed, minutes, faults, verdicts, creates }: Run): string {
  const times = (name: string) => faults.filter((other) => other === name).length;
  const answers = creates.flatMap((create) => create.answers);
  return [
    '# Reliability',
    '',
    'Written by `make faults REPORT=1`: the system runs behind TCP fault proxies with a backend that fails on demand, four',
    'clients act all the time, and one fault after the other strikes. Afterwards everything is healed, the system has to become',
    'quiet, and the invariants are checked through the public API and in the stores.',
    '',
    `The run below: \`make faults SEED=${seed} MINUTES=${minutes}\`, ${creates.length} creates, ${answers.length} answers, of which`,
    `${answers.filter((answer) => !answer).length} never came and ${answers.filter((answer) => (answer?.status ?? 0) >= 500).length} were 5xx.`,
    '',
    '## What held',
    '',
    ...verdicts.map(
      ({ id, says, breaches }) =>
        `- **${id}** ${breaches.length === 0 ? 'held' : `${breaches.length} breaches`}: ${says}.`,
    ),
    '',
    '## Faults',
    '',
    '| fault | times |',
    '|---|---|',
    ...allFaults.map(({ name }) => `| ${name} | ${times(name)} |`),
    '',
  ].join('\n');
}
