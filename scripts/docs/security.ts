import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AttackRun, ReportedAttack } from '../../test/attacks/report.ts';
import type { FuzzRun } from '../../test/fuzz/last-run.ts';

/** docs/security.md: what attackers sent and what they got, by the recorded runs. */
export function securityReport(root: string): string {
  const attacks = readRun(root, 'test/attacks/last-run.json') as AttackRun | undefined;
  const fuzz = readRun(root, 'test/fuzz/last-run.json') as FuzzRun | undefined;
  return [
    '# Attacks, and what came of them',
    '',
    'Written by `npm run docs` from the recorded runs of `make attacks REPORT=1` and `make fuzz`. What is defended where,',
    'and how to report a hole, stands in [SECURITY.md](../SECURITY.md).',
    '',
    ...(attacks ? attackSection(attacks) : []),
    ...(fuzz ? fuzzSection(fuzz) : []),
  ].join('\n');
}

function readRun(root: string, path: string): unknown {
  const file = join(root, path);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

function attackSection({ groups }: AttackRun): string[] {
  const all = groups.flatMap(({ attacks }) => attacks);
  const inner = all.filter(({ innerHits }) => innerHits !== null);
  const hits = inner.reduce((sum, { innerHits }) => sum + (innerHits ?? 0), 0);
  const serverErrors = all.filter(({ seen }) => SERVER_ERROR.test(seen)).length;
  return [
    '## Attacks',
    '',
    `${all.length} attacks through the public and the admin API of a whole system (\`test/attacks/\`);`,
    `${all.filter(({ held }) => held).length} of them met what they had to, in time and at the charge that was expected. ${inner.length} name a listener on`,
    `an inner address, which was reached ${hits} times. ${serverErrors} of all attacks saw a status from 500 on.`,
    '',
    'An answer is status, code and reason. "Inner" counts connections to the inner listener of the attack, "within" is',
    'the bound that was held.',
    '',
    ...groups.flatMap(({ title, wanted, attacks }) => [
      `### ${title}`,
      '',
      `Wanted: ${wanted}.`,
      '',
      '| attack | answer | inner | within |',
      '| --- | --- | --- | --- |',
      ...attacks.map(attackRow),
      '',
    ]),
  ];
}

/** A status from 500 on among what was seen; not the count of another one, as in `500 × 401`. */
const SERVER_ERROR = /\b5\d\d\b(?! ×)/;

function attackRow({ name, seen, held, innerHits, withinMs }: ReportedAttack): string {
  const answer = held ? cell(seen) : `**not held:** ${cell(seen)}`;
  return `| ${cell(name)} | ${answer} | ${innerHits ?? ''} | ${withinMs / 1000} s |`;
}

const cell = (text: string) => text.replaceAll(/[\\`*_<>[\]|]/g, '\\$&');

function fuzzSection({ day, minutes, parsers, apis }: FuzzRun): string[] {
  return [
    '## Fuzzing',
    '',
    `\`make fuzz MINUTES=${minutes}\` on ${day}.`,
    '',
    '| parser | inputs | branches reached | findings |',
    '| --- | --- | --- | --- |',
    ...parsers.map(
      ({ target, inputs, edges, edgesHit, findings }) =>
        `| ${cell(target)} | ${inputs} | ${edgesHit} of ${edges} | ${findings} |`,
    ),
    '',
    '| API | operations | requests | 5xx | answers not as documented | inner hits |',
    '| --- | --- | --- | --- | --- | --- |',
    ...apis.map(
      ({ api, operations, requests, serverErrors, findings, innerHits }) =>
        `| ${api} | ${operations} | ${requests} | ${serverErrors} | ${findings} | ${innerHits} |`,
    ),
    '',
  ];
}
