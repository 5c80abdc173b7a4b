import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CaughtByTest, DeliberateFault } from '../../test/faults/deliberate/deliberate-fault.ts';
import { groups, single } from '../../packages/visionctl/src/commands/all.ts';
import { deliberateFaults } from '../../test/faults/deliberate/list.ts';
import { publicReasons } from '../../packages/contracts/src/reasons.ts';
import { decisionFaults } from './decisions.ts';
import { unusedReasons } from './guide.ts';
import { metricCatalogue, seriesNames } from './metric-catalogue.ts';
import { projectFiles } from '../project-files.ts';
import { anchorOf, unexplainedErrors } from './log-index.ts';
import { runbookFaults } from './runbooks.ts';
import { serviceNames } from './services.ts';

interface Sources {
  root: string;
  /** Every source file, as one text. */
  code: string;
  /** The series of all declared metrics. */
  series: Set<string>;
  /** Of the Makefile. */
  targets: Set<string>;
}

/**
 * What the documents name and the code does not have: files, headings, tests, commands, metrics, settings, reasons and
 * log messages.
 */
export async function untrueClaims(root: string): Promise<string[]> {
  const present = projectFiles(root, '**/{,.}*.*').concat('Makefile');
  const code = present
    .filter((path) => CODE.test(path))
    .map((path) => read(root, path))
    .join('\n');
  const targets = new Set(
    [...read(root, 'Makefile').matchAll(/^([a-z][a-z0-9 -]*):/gm)].flatMap(([, names = '']) => names.split(' ')),
  );
  const sources = { root, code, series: seriesNames(await metricCatalogue(root)), targets };
  const documents = present
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) => claimsOf(path, read(root, path), sources).map((claim) => `${path}: ${claim}`));
  return [
    ...documents,
    ...runbookFaults(root),
    ...unexplainedErrors(root),
    ...decisionFaults(root),
    ...present.filter((path) => CODE.test(path)).flatMap((path) => missingPages(root, path)),
    ...deliberateFaults.flatMap((fault) => untrueFault(root, fault)),
    ...unusedReasons(publicReasons, sourcesOf(root, present), serviceNames),
    ...reasonsWithoutPage(read(root, 'docs/operations.md')),
  ];
}

const CODE = /^(?!docs\/)(?:.*\.(?:ts|js|cjs|ya?ml|json|sh)|Makefile)$/;
/** Documents that name metrics, settings, reasons and log messages. */
const FOR_OPERATORS = /^docs\/(operations|traces|failures|rotation|runbooks\/\w+)\.md$/;

/** Documents that code and messages name by their path, maybe with a heading in quotes, and that are not there. */
function missingPages(root: string, path: string): string[] {
  return [...read(root, path).matchAll(/(?<![\w/])docs\/[\w./-]+\.md\b(?:, "([^"]+)")?/g)].flatMap(
    ([named, heading]) => {
      const [file = ''] = named.split(',');
      if (!existsSync(join(root, file))) return [`${path}: ${file} does not exist`];
      const isThere = heading === undefined || headingsOf(read(root, file)).includes(anchorOf(heading));
      return isThere ? [] : [`${path}: ${file} has no heading "${heading}"`];
    },
  );
}

/** What runs in services: tests and the list of reasons itself left out. */
function sourcesOf(root: string, present: string[]): string {
  return present
    .filter((path) => /^(packages|services)\/[^/]+\/src\/.*(?<!\.test)\.ts$/.test(path))
    .filter((path) => path !== 'packages/contracts/src/reasons.ts')
    .map((path) => read(root, path))
    .join('\n');
}

function claimsOf(document: string, text: string, sources: Sources): string[] {
  return [
    ...missingFiles(document, text, sources),
    ...missingHeadings(document, text, sources),
    ...missingCommands(text),
    ...missingTargets(text, sources),
    ...(document === 'docs/visionctl.md' ? [] : missingOptions(text)),
    ...(document === 'docs/testing.md' ? missingTests(text, sources) : []),
    ...(FOR_OPERATORS.test(document) ? [...missingNames(text, sources), ...missingMessages(text, sources)] : []),
  ];
}

/** Reasons for which an operator may have to act, and that lead to no page. */
function reasonsWithoutPage(operations: string): string[] {
  const codes = ['OP-SYS-UNAVAILABLE', 'OP-TASK-UPSTREAM-DOWN', 'OP-TASK-BREAKER-OPEN'] as const;
  const [, section = ''] = operations.split('## From an error code to its page\n');
  return codes
    .flatMap((code) => Object.keys(publicReasons[code]))
    .filter((reason) => !section.split('\n## ')[0]?.includes(`\`${reason}\``))
    .map((reason) => `docs/operations.md: the reason ${reason} leads to no page`);
}

/** A fix that was moved or reworded can no longer be removed, so its test would no longer be proved. */
function untrueFault(root: string, { says, file, find, caughtBy }: DeliberateFault): string[] {
  const list = 'test/faults/deliberate/list.ts';
  const isThere = existsSync(join(root, file)) && read(root, file).split(find).length === 2;
  const isTested = !('test' in caughtBy) || (existsSync(join(root, caughtBy.file)) && hasTest(root, caughtBy));
  return [
    ...(isThere ? [] : [`${list}: "${says}": ${file} does not have once: ${find}`]),
    ...(isTested ? [] : [`${list}: "${says}": its test does not exist`]),
  ];
}

const hasTest = (root: string, { file, test }: CaughtByTest) => read(root, file).includes(test);

/** Links to a heading that is not there; headings are named as GitHub names them. */
function missingHeadings(document: string, text: string, { root }: Sources): string[] {
  return [...text.matchAll(/\]\(([^)#\s]*)#([^)\s]+)\)/g)]
    .filter(([, path = '']) => !/^https?:/.test(path))
    .map(([, path = '', heading = '']) => ({ file: path === '' ? document : join(dirname(document), path), heading }))
    .filter(({ file, heading }) => existsSync(join(root, file)) && !headingsOf(read(root, file)).includes(heading))
    .map(({ file, heading }) => `${file} has no heading #${heading}`);
}

function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
}

/** Commands of `visionctl` that are named in backticks or in a block of code, and that it does not have. */
function missingCommands(text: string): string[] {
  const known = new Set([
    ...groups.flatMap(({ name, alias, commands }) =>
      [name, alias ?? name].flatMap((word) => [word, ...commands.map((command) => `${word} ${command.name}`)]),
    ),
    ...single.map(({ name }) => name),
    'help',
  ]);
  return [...text.matchAll(/(?:`|^)(?:npx )?visionctl ([a-z][a-z-]+)(?: ([a-z][a-z-]+))?/gm)]
    .filter(([, first = '', second = '']) => {
      const takesArguments = first === 'help' || single.some(({ name }) => name === first);
      return !known.has(takesArguments || second === '' ? first : `${first} ${second}`);
    })
    .map(([command]) => `there is no such command: ${command.replaceAll(/[`\n]/g, '')}`);
}

/** Targets of `make` that stand in backticks or in a block of code, and that the Makefile does not define. */
function missingTargets(text: string, { targets }: Sources): string[] {
  const code = [...text.matchAll(/^```[\s\S]*?^```|`[^`\n]+`/gm)].map(([part]) => part).join('\n');
  return [...code.matchAll(/(?<!apt-get .*)\bmake((?: [a-z][a-z0-9-]+)+)(?=[ `\n]|$)/gm)]
    .flatMap(([, names = '']) => names.trim().split(' '))
    .filter((name) => !targets.has(name))
    .map((name) => `the Makefile has no target ${name}`);
}

/** Commands of `visionctl` that are written with arguments and without an option that they require. */
function missingOptions(text: string): string[] {
  return [...text.matchAll(/(?:`|^)(?:npx )?visionctl ([a-z-]+) ([a-z-]+) ([^`\n]+)/gm)].flatMap(
    ([, group = '', name = '', rest = '']) => {
      const { commands = [] } = groups.find((one) => one.name === group || one.alias === group) ?? {};
      const options = Object.entries(commands.find((command) => command.name === name)?.options ?? {});
      const lacking = options.filter(([option, { required }]) => required && !rest.includes(`--${option}`));
      return lacking.map(([option]) => `visionctl ${group} ${name} needs --${option}`);
    },
  );
}

/** Links, and what stands in backticks and is written like a path; it may begin at the root or at the document. */
function missingFiles(document: string, text: string, { root }: Sources): string[] {
  const folder = dirname(document);
  const links = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, path = '']) => path);
  const named = [...text.matchAll(/`([\w.-]+\/[\w./{},-]*(?:\.(?:ts|md|json|ya?ml)|\/))`/g)].map(
    ([, path = '']) => path,
  );
  const isThere = (path: string) =>
    [path, join(folder, path), join(folder, 'src', path)].some((place) => existsSync(join(root, place)));
  return [...links.filter((link) => !/^(https?|mailto):/.test(link)), ...named.flatMap(alternatives)]
    .filter((path) => !isThere(path) && !MADE_LATER.test(path))
    .map((path) => `${path} does not exist`);
}

/** Written by the system when it runs. */
const MADE_LATER = /^(\.local|examples\/out|dist)\b/;

/** `a/{b,c}.ts` names `a/b.ts` and `a/c.ts`. */
function alternatives(path: string): string[] {
  const [, before = '', list, after = ''] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(path) ?? [];
  return list === undefined ? [path] : list.split(',').flatMap((one) => alternatives(`${before}${one}${after}`));
}

/** `file.test.ts`: "the full name of a test in it". */
function missingTests(text: string, { root }: Sources): string[] {
  return [...asOneLine(text).matchAll(/`([\w./-]+\.test\.ts)`: "([^"]+)"/g)]
    .filter(([, path = '', name = '']) => existsSync(join(root, path)) && !read(root, path).includes(name))
    .map(([, path, name]) => `${path} has no test "${name}"`);
}

/** Metrics, settings and reasons: every word in backticks that is put together with underscores. */
function missingNames(text: string, { code, series }: Sources): string[] {
  const words = [...text.matchAll(/`[^`\n]+`/g)].flatMap(
    ([quoted]) => quoted.match(/\b[a-zA-Z]+(_[a-zA-Z0-9]+)+\b/g) ?? [],
  );
  // A histogram is also named without the ending of its series.
  const isKnown = (word: string) => code.includes(word) || series.has(word) || series.has(`${word}_bucket`);
  return [...new Set(words)]
    .filter((word) => !MADE_ELSEWHERE.test(word) && !isKnown(word))
    .map((word) => `nothing is called ${word}`);
}

/**
 * Names of instrumentations and of PostgreSQL, the series of a histogram `x`, and reasons that hold a
 * status or a service.
 */
const MADE_ELSEWHERE = new RegExp(
  `^(http|db|messaging|otel|pg|synchronous|error|server|x)_|^vision_tasks_2$|^status_\\d+$|^(${serviceNames.join('|')})_unavailable$`,
);

/** What stands in double quotes is a log message, or a message of Node. */
function missingMessages(text: string, { code }: Sources): string[] {
  const prose = asOneLine(text.replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, ''));
  return [...prose.matchAll(/"([^"]+)"/g)]
    .map(([, message = '']) => message)
    .filter((message) => message !== 'socket hang up')
    .filter((message) => !code.includes(message.replace(/^kafka: (?=\w)/, '').replace(/ to default offset$/, '')))
    .map((message) => `no log line says "${message}"`);
}

const asOneLine = (text: string) => text.replaceAll(/\s+/g, ' ');
const read = (root: string, path: string) => readFileSync(join(root, path), 'utf8');
