import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { measurementOf } from './measurements.ts';
import { recordOf, recordText } from './record.ts';

const beginOf = (command: string) => `<!-- written by REPORT=1 make ${command} -->`;
const END = '<!-- until here -->';

/** Puts a text into the part of a page that `make <command>` writes. @throws Error when the page has no such part. */
export function replaceSection(page: string, command: string, text: string): string {
  const begin = beginOf(command);
  const from = page.indexOf(begin);
  const to = page.indexOf(END, from);
  if (from < 0 || to < from) throw new Error(`The page has no part for the result: ${begin} … ${END}`);
  return `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`;
}

/** Writes the result of a run of `make <command>` into its page, below the commit that was measured. */
export function writeSection(root: string, command: string, text: string): void {
  const { page } = measurementOf(command);
  const file = join(root, page);
  const section = `${recordText(recordOf(command, root))}\n\n${text}`;
  writeFileSync(file, replaceSection(readFileSync(file, 'utf8'), command, section));
  spawnSync(join(root, 'node_modules/.bin/prettier'), ['--write', '--log-level', 'warn', file], { stdio: 'inherit' });
}
