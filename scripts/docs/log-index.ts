import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { projectFiles } from '../project-files.ts';

/** Shorter ones are beginnings of lines, such as those of the Kafka library. */
const SHORTEST = 8;
const PAGES = ['docs/failures.md', 'docs/operations.md', 'docs/rotation.md', 'docs/runbooks/Vision*.md'];

/** Errors are for a person to act on, so each has its page: those in the log that no page for operators cites. */
export function unexplainedErrors(root: string): string[] {
  const cited = new Set(citations(root).map(({ message }) => message));
  return projectFiles(root, '{packages,services}/*/src/**/*.ts')
    .filter((path) => !path.endsWith('.test.ts'))
    .flatMap((path) => errorsIn(readFileSync(join(root, path), 'utf8')).map((message) => ({ path, message })))
    .filter(({ message }) => !cited.has(message))
    .map(({ path, message }) => `${path}: no page for operators explains the error "${message}"`);
}

/** Messages that are logged with the level `error`. */
export const errorsIn = (code: string) =>
  [...code.matchAll(/\blogger\.error\([^;]*?'((?:[^'\\]|\\.)*)',?\s*\)/g)].map(([, message = '']) => message);

/** docs/log-lines.md: each log message that the pages for operators cite, with the places that explain it. */
export function logIndex(root: string): string {
  const places = new Map<string, Set<string>>();
  for (const { message, place } of citations(root)) places.set(message, (places.get(message) ?? new Set()).add(place));
  const lines = [...places]
    .sort(([one], [other]) => one.localeCompare(other, 'en'))
    .map(([message, found]) => `- "${message}": ${[...found].join(', ')}`);
  return [
    '# From a log line to its page',
    '',
    'Written by `npm run docs`: each `msg` that a page for operators explains, with these pages. Of a line that is not here',
    'the level says whether a person must act ([operations](operations.md#logs)), and `err` what failed.',
    '',
    ...lines,
    '',
  ].join('\n');
}

const citations = (root: string) =>
  PAGES.flatMap((pattern) => projectFiles(root, pattern)).flatMap((path) =>
    citationsIn(path, readFileSync(join(root, path), 'utf8')),
  );

/** Messages in double quotes outside of code, and the heading below which each stands. */
export function citationsIn(path: string, text: string): { message: string; place: string }[] {
  const page = path.replace(/^docs\//, '');
  return text.split(/^(?=#{2,} )/m).flatMap((section) => {
    const [, heading] = /^#{2,} (.+)/.exec(section) ?? [];
    const place =
      heading === undefined || page.startsWith('runbooks/')
        ? `[${basename(page, '.md')}](${page})`
        : `[${heading}](${page}#${anchorOf(heading)})`;
    return quotedIn(section)
      .filter((quoted) => quoted.length >= SHORTEST)
      .map((message) => ({ message, place }));
  });
}

const quotedIn = (text: string) =>
  [
    ...text
      .replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, '')
      .replaceAll(/\s+/g, ' ')
      .matchAll(/"([^"]+)"/g),
  ].map(([, quoted = '']) => quoted);

/** As GitHub names headings. */
export const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
