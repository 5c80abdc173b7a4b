import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const MOST_PAGES = 30;

/** What is wrong with the decision records: too many, one that the table of contents lacks, a former number in use. */
export function decisionFaults(root: string): string[] {
  const folder = join(root, 'docs/adr');
  const pages = readdirSync(folder).filter((name) => /^\d{4}-/.test(name));
  return decisionFaultsOf(pages, readFileSync(join(folder, 'README.md'), 'utf8'));
}

/** @param contents the text of README.md beside the pages */
export function decisionFaultsOf(pages: readonly string[], contents: string): string[] {
  const numbers = new Set(pages.map(numberOf));
  const former = [...contents.matchAll(/^\| (\d+) +\| (\d+) +\|/gm)].map(([, old, now]) => [Number(old), Number(now)]);
  const tooMany = `docs/adr: ${pages.length} pages, more than ${MOST_PAGES}: add to the page of the same theme`;
  return [
    ...(pages.length > MOST_PAGES ? [tooMany] : []),
    ...pages.filter((page) => !contents.includes(`](${page})`)).map((page) => `docs/adr/README.md: lacks ${page}`),
    ...former.flatMap(([old = 0, now = 0]) => [
      ...(numbers.has(old) ? [`docs/adr/README.md: ${old} is a former number and has a page`] : []),
      ...(numbers.has(now) ? [] : [`docs/adr/README.md: ${old} leads to ${now}, which has no page`]),
    ]),
  ];
}

const numberOf = (page: string) => Number(page.slice(0, 4));
