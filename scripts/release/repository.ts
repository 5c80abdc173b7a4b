import { spawnSync } from 'node:child_process';
import { writtenByRuns } from './measurements.ts';

/** No test of a part and no recorded run changes what a measurement finds. */
const NOT_MEASURED = [':(exclude)*.test.ts', ':(exclude)*/last-run.json', ':(exclude)*.md'];

/** Output of git in this repository; undefined when git fails. */
function git(root: string, ...args: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  return status === 0 ? stdout.trimEnd() : undefined;
}

/** Why commits cannot be compared here; undefined when they can. */
export function missingHistory(root: string): string | undefined {
  const isShallow = git(root, 'rev-parse', '--is-shallow-repository');
  if (isShallow === undefined) return 'there is no git history here';
  return isShallow === 'true' ? 'the git history is shallow' : undefined;
}

export const hasCommit = (root: string, commit: string) =>
  git(root, 'cat-file', '-e', `${commit}^{commit}`) !== undefined;

/** Measured files that differ between a commit and the files that are there now. */
export function changedSince(root: string, commit: string, files: readonly string[]): string[] {
  return lines(git(root, 'diff', '--name-only', commit, '--', ...files, ...NOT_MEASURED));
}

/** Whether a commit has the same files as HEAD, except those that runs write. */
export function hasSameCode(root: string, commit: string): boolean {
  if (!hasCommit(root, commit)) return false;
  return lines(git(root, 'diff', '--name-only', commit, 'HEAD', '--', ...exceptWritten())).length === 0;
}

/** Files that differ from HEAD or that git does not know, except those that runs write. */
export function modifiedFiles(root: string): string[] {
  return lines(git(root, 'status', '--porcelain', '--', ...exceptWritten())).map((line) => line.slice(3));
}

/** HEAD, marked when the files differ from it; `unknown` outside of a repository. */
export function currentCommit(root: string): string {
  const head = git(root, 'rev-parse', 'HEAD');
  if (head === undefined) return 'unknown';
  return modifiedFiles(root).length === 0 ? head : `${head}-modified`;
}

const exceptWritten = () => ['.', ...writtenByRuns.map((file) => `:(exclude)${file}`)];
const lines = (text: string | undefined) => (text ?? '').split('\n').filter(Boolean);
