import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export interface Release {
  version: string;
  commit: string;
}

/** A release that can run. */
export interface CheckedOutRelease extends Release {
  /** The folder with its files and packages. */
  tree: string;
}

/** Checks out the release that is compared with, once for all runs, and installs its packages. */
export function checkOutBaseRelease(root: string, localDir: string): CheckedOutRelease {
  const release = baseRelease(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'));
  const tree = unpackRelease(root, join(localDir, 'releases'), release);
  installPackages(tree);
  return { ...release, tree };
}

/**
 * The newest release that the changelog names with its commit: what today's code has to run beside. A release moves
 * this by its own heading.
 */
export function lastRelease(changelog: string): Release {
  const [newest] = releasesIn(changelog);
  if (newest !== undefined) return newest;
  throw new Error('CHANGELOG.md names no release with its commit: "## 1.2.3 (commit <40 hex digits>)".');
}

/** The release that is compared with: the newest one, or that of the version `BASE` names. */
export function baseRelease(changelog: string, base = process.env['BASE'] ?? ''): Release {
  const newest = lastRelease(changelog);
  if (base === '') return newest;
  const all = releasesIn(changelog);
  const named = all.find(({ version }) => version === base);
  if (named !== undefined) return named;
  throw new Error(
    `BASE=${base} is no release that CHANGELOG.md names, but ${all.map((one) => one.version).join(', ')}.`,
  );
}

const releasesIn = (changelog: string): Release[] =>
  [...changelog.matchAll(/^## (\d+\.\d+\.\d+) \(commit ([0-9a-f]{40})\)$/gm)].map(([, version = '', commit = '']) => ({
    version,
    commit,
  }));

/** The files of a release as git has them, whatever the work tree holds. They are kept for the next time. */
export function unpackRelease(root: string, folder: string, { version, commit }: Release): string {
  const tree = join(folder, commit);
  if (existsSync(tree)) return tree;
  requireCommit(root, version, commit);
  const unfinished = `${tree}.new`;
  const archive = `${tree}.tar`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  execFileSync('git', ['archive', `--output=${archive}`, commit], { cwd: root, stdio: 'pipe' });
  execFileSync('tar', ['-xf', archive, '-C', unfinished]);
  rmSync(archive);
  renameSync(unfinished, tree);
  return tree;
}

/** Gives it the packages that its own lock file names, by its own script. */
function installPackages(tree: string): void {
  const installed = spawnSync(process.execPath, ['scripts/ensure-packages.js'], { cwd: tree, stdio: 'inherit' });
  if (installed.status !== 0) throw new Error(`The packages of the last release cannot be installed in ${tree}.`);
}

/** Git would say only that this is no valid object name. */
function requireCommit(root: string, version: string, commit: string): void {
  if (spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root }).status === 0) return;
  const how = isShallow(root) ? 'git fetch --unshallow' : `git fetch origin ${commit}`;
  throw new Error(`Release ${version} (commit ${commit.slice(0, 12)}) is not in this clone; get it with "${how}".`);
}

const isShallow = (root: string) =>
  spawnSync('git', ['rev-parse', '--is-shallow-repository'], { cwd: root, encoding: 'utf8' }).stdout.trim() === 'true';
