import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AttackRun, ReportedAttack } from '../../test/attacks/report.ts';
import type { FuzzRun } from '../../test/fuzz/last-run.ts';
import { recordText } from '../release/record.ts';

/** docs/security.md: what attackers sent and what they got, by the recorded runs. */
export function securityReport(root: string): string {
  const attacks = readRun(root, 'test/attacks/last-run.json') as AttackRun | undefined;
  const fuzz = readRun(root, 'test/fuzz/last-run.json') as FuzzRun | undefined;
  return [
    '# Attacks, and what came of them',
    '',
    'Written by `npm run docs` from the recorded runs of `make attacks REPORT=1` and `make fuzz REPORT=1`. What is defended where,',
    'and how to report a hole, stands in [SECURITY.md](../SECURITY.md).',
    '',
    ...ISOLATION,
    ...(attacks ? attackSection(attacks) : []),
    ...(fuzz ? fuzzSection(fuzz) : []),
  ].join('\n');
}

/** By hand: what is left when the code inside a sandbox does what an attacker wants. */
const ISOLATION = [
  '## What holds when a parser fails',
  '',
  'Each entry takes the parser for broken: it crashes, never ends, or runs code of an attacker. The tests named try the',
  'isolation behind it with a hostile program or input in the place of the parser.',
  '',
  ...[
    [
      'Readers of RTSP, RTMP, HTTP and HLS',
      'a process for each stream, in the sandbox',
      'no connection but those that inference made to addresses it had checked; no file, no secret but the address of this stream; 64 MiB of heap, 768 MiB in all, 12 hours of processor time, niceness 5; inference reads facts of 1 KiB from it and no video',
      'this stream',
      '`services/inference/test/reader-isolation.test.ts`',
    ],
    [
      'ffmpeg and ffprobe',
      'a process for each input, in the sandbox',
      'no socket, no new process, no file but the input, no environment; memory, processor time and descriptors are bounded; one of a live stream that takes more than 0.4 cores gets niceness 10; frames of another size than announced end it',
      'this job',
      '`services/inference/test/sandbox.test.ts`',
    ],
    [
      'The validator of MP4 and MOV',
      'the options and limits of ffmpeg',
      'no turn and no edit list that was not validated is followed; files are decoded at niceness 10 and end with `decode_time_exceeded`',
      'the time limit of one job',
      '`services/inference/test/mp4-validation.test.ts`, `services/inference/test/file-budget.test.ts`',
    ],
    [
      'The inspection of images, and libvips',
      'a process for one image at a time, in the sandbox',
      '2 s of processor time, then the process is ended; other images go on; pixels of at most the announced size come back',
      'this image, and its share of the budget of its subject',
      '`services/inference/test/image-decoder.test.ts`',
    ],
    [
      'The reader of facts and frames of these processes',
      'lengths are bounded before anything is kept, and addresses are checked again',
      'a fact of another form ends the process that sent it; a connection it asks for passes the rules for addresses, their number and pace',
      'nothing beyond the process',
      '`services/inference/test/reader-isolation.test.ts`',
    ],
    [
      'The grammar of stream addresses',
      'the policy for the address that a name stands for, then the network policy',
      'the connection is made to an address that was checked as a number; in Kubernetes private ranges are closed to the pod besides',
      'public addresses on other ports',
      '`packages/shared/src/net/address-policy.test.ts`, `charts/vision/tests/policies_test.yaml`',
    ],
    [
      'The HTTP parser of the gateway',
      'the request of the next hop is built anew, with a token for one service and one subject',
      'no byte of the head goes on as it came; admin and inner operations are on other ports; services refuse a token for another audience',
      'requests of the key that was shown',
      '`services/gateway/test/forward.test.ts`',
    ],
    [
      'JSON, forms and cursors in a service',
      'statements that name the subject, a database role for each service',
      'rows of other services cannot be read, not even with any SQL; cursors are sealed',
      'the rows of this service',
      '`deploy/compose/create-databases.sh`',
    ],
    [
      'Limits of clients in the gateway',
      'limits of the container',
      'memory and processes of the gateway alone; other services go on with what they have accepted',
      'new requests, until it is started again',
      '`deploy/compose/compose.test.ts`',
    ],
  ].map(
    ([parser, behind, holds, lost, shownBy]) =>
      `- **${parser}.** Behind: ${behind}. It still holds: ${holds}. Lost: ${lost}. Shown by ${shownBy}.`,
  ),
  '',
  'Not held: an error in the kernel that the sandbox lets a program reach, and what stands where no sandbox works and',
  '`SANDBOX=auto` decodes all the same.',
  '',
];

function readRun(root: string, path: string): unknown {
  const file = join(root, path);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

function attackSection({ record, groups }: AttackRun): string[] {
  const all = groups.flatMap(({ attacks }) => attacks);
  const inner = all.filter(({ innerHits }) => innerHits !== null);
  const hits = inner.reduce((sum, { innerHits }) => sum + (innerHits ?? 0), 0);
  const serverErrors = all.filter(({ seen }) => SERVER_ERROR.test(seen)).length;
  return [
    '## Attacks',
    '',
    ...(record ? [recordText(record), ''] : []),
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

function fuzzSection({ record, minutes, parsers, apis }: FuzzRun): string[] {
  return [
    '## Fuzzing',
    '',
    `${recordText(record)} It took ${minutes} minutes (\`MINUTES=${minutes}\`).`,
    '',
    '| parser | inputs | branches reached | findings |',
    '| --- | --- | --- | --- |',
    ...parsers.map(
      ({ target, inputs, edges, edgesHit, findings }) =>
        `| \`${target}\` | ${inputs} | ${edgesHit} of ${edges} | ${findings} |`,
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
