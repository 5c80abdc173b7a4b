import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeCounts } from '../../scripts/test-results.ts';
import { recordOf, recordText } from '../../scripts/release/record.ts';
import { brokerFaults } from './nemesis/broker-faults.ts';
import { FAILOVER, HOLE } from './nemesis/fault.ts';
import { faults as allFaults } from './nemesis/nemesis.ts';
import type { Strike } from './nemesis/nemesis.ts';
import type { Create } from './workload.ts';

export interface Verdict {
  id: string;
  says: string;
  breaches: string[];
}

export interface Run {
  seed: number;
  minutes: number;
  strikes: readonly Strike[];
  verdicts: Verdict[];
  creates: Create[];
  /** What the system did meanwhile, one sentence each. */
  facts: string[];
  /** The release of the second process of each service, where it is not that of this code. */
  older?: string | undefined;
  /** The only fault of the run; undefined when there were several. */
  alone?: string | undefined;
}

const root = join(import.meta.dirname, '../..');
const file = join(root, 'docs/reliability.md');

/**
 * Prints the outcome; `REPORT=1` also rewrites docs/reliability.md. @returns whether anything was breached
 */
export function writeReport(run: Run, countsFile?: string): boolean {
  for (const fact of factsOf(run)) console.log(`         ${fact}`);
  for (const { id, says, breaches } of run.verdicts) {
    console.log(`${breaches.length === 0 ? 'held  ' : 'BROKEN'} ${id.padEnd(6)} ${says}`);
    for (const breach of breaches.slice(0, 10)) console.log(`         ${breach}`);
  }
  const broken = run.verdicts.filter(({ breaches }) => breaches.length > 0);
  console.log(`${run.verdicts.length - broken.length} passed, ${broken.length} failed`);
  if (countsFile)
    writeCounts(
      countsFile,
      run.verdicts.map(({ id, says, breaches }) => ({ name: `faults ${id}: ${says}`, reasons: breaches })),
    );
  if (process.env['REPORT']) {
    const page = readFileSync(file, 'utf8');
    writeFileSync(file, run.alone === undefined ? document(run) + keptOf(page) : withOutage(page, run));
    spawnSync('prettier', ['--write', '--log-level', 'warn', file], { stdio: 'inherit' });
  }
  return broken.length > 0;
}

/** A run with one broker leaves these faults out, so the table shows 0 for them. */
const NEED_BROKERS = `The faults ${brokerFaults.map(({ name }) => `"${name}"`).join(' and ')} need \`BROKERS=3\`; without it they never strike.`;

/** A run of this fault alone writes what stands below this heading; other runs leave it. */
const OUTAGE = '## Receivers away for long';
/** What stands below this heading was looked into by people, and stays. */
const BY_HAND = '## Looked into';

function keptOf(page: string): string {
  const from = [OUTAGE, BY_HAND].map((heading) => page.indexOf(heading)).find((at) => at >= 0);
  return from === undefined ? '' : `\n${page.slice(from)}`;
}

function withOutage(page: string, run: Run): string {
  const byHand = page.indexOf(BY_HAND);
  const begin = page.indexOf(OUTAGE);
  const end = byHand < 0 ? page.length : byHand;
  return `${page.slice(0, begin < 0 ? end : begin)}${outage(run)}\n${page.slice(end)}`;
}

function outage(run: Run): string {
  const { verdicts, alone = '' } = run;
  const { commit, day } = recordOf('faults', root);
  const broken = verdicts.filter(({ breaches }) => breaches.length > 0).map(({ id }) => id);
  return [
    OUTAGE,
    '',
    'No webhook receiver and no MQTT broker answers, while both processes of notify, both of results, Kafka and',
    'PostgreSQL are killed in turn, each dead for up to 24 s of every four minutes. Clients go on. Afterwards everything',
    'that waits for its next attempt is made due, and what arrived is compared with the logs.',
    '',
    `\`${commandOf(run)} ONLY="${alone}"\`, on ${day} at commit \`${commit}\`:`,
    '',
    ...factsOf(run).map((fact) => `- ${fact}`),
    `- ${verdicts.length - broken.length} of ${verdicts.length} invariants held${broken.length > 0 ? `; broken: ${broken.join(', ')}` : ''}.`,
    '',
  ].join('\n');
}

const commandOf = ({ seed, minutes, older }: Run) =>
  `make faults SEED=${seed} MINUTES=${minutes}${older === undefined ? '' : ' BESIDE=1'}`;

function factsOf({ creates, strikes, facts, older }: Run): string[] {
  const answers = creates.flatMap((create) => create.answers);
  const kinds = [...new Set(creates.map(({ kind }) => kind))].sort();
  const perKind = kinds.map((kind) => `${creates.filter((create) => create.kind === kind).length} ${kind}`);
  const never = answers.filter((answer) => !answer).length;
  const refused = answers.filter((answer) => (answer?.status ?? 0) >= 500).length;
  return [
    ...(older === undefined ? [] : [`The second process of each service was of release ${older}.`]),
    `${creates.length} creates: ${perKind.join(', ')}.`,
    `${answers.length} answers to them, of which ${never} never came and ${refused} were 5xx.`,
    ...facts,
    `${strikes.length} faults, of which ${strikes.filter((strike) => isBeside(strike, strikes)).length} while another one lasted.`,
  ];
}

const isBeside = (strike: Strike, strikes: readonly Strike[]) =>
  strikes.some((other) => other !== strike && other.from < strike.to && other.to > strike.from);

/** The page but for what stays of the last one. */
export function document(run: Run): string {
  const { strikes, verdicts } = run;
  const times = (name: string) => strikes.filter((strike) => strike.name === name).length;
  return [
    '# Reliability',
    '',
    'Written by `make faults REPORT=1`. The system runs with two processes of each of its seven services; each process has a',
    'TCP fault proxy of its own before every store it uses, and a listener of its own at the Kafka broker. Half of the work',
    'goes to real inference workers, which read live streams of nginx (RTMP, HLS), GStreamer (RTSP) and ffmpeg (HTTP) and',
    'uploaded files; the other half to a backend that fails as a script says. Four clients act all the time, and three',
    'faults at once strike: processes end, freeze or have their clocks stepped, connections break or hang, and stores are',
    'lost, lie, move elsewhere or have a full disk. Receivers of webhooks and the MQTT broker (mosquitto) of the callers',
    'fail in every way that a stranger can. Afterwards everything is healed, the system has to become quiet, and the',
    'invariants are checked through the public API, in the stores, in the log of the broker and at the receivers. The last',
    'table says which faults struck in the run below.',
    '',
    `The run below: \`${commandOf(run)}\`.`,
    '',
    recordText(recordOf('faults', root)),
    '',
    ...factsOf(run).map((fact) => `- ${fact}`),
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
    NEED_BROKERS,
    '',
    '| fault | times |',
    '|---|---|',
    ...[...allFaults.map(({ name }) => name), FAILOVER, HOLE].map((name) => `| ${name} | ${times(name)} |`),
    '',
  ].join('\n');
}
