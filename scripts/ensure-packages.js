/** Installs what package-lock.json names when node_modules differs from it. Works on any Node from 20 on. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

const root = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const installedLock = resolve(root, 'node_modules/.package-lock.json');

if (!isCurrent()) {
  // Not to stdout, which is the answer of some commands.
  console.error('npm        installing packages');
  const bin = resolve(root, 'node_modules/.bin');
  // npm would otherwise remove the very node it runs on.
  const path = (process.env.PATH ?? '').split(delimiter).filter((dir) => resolve(dir) !== bin);
  const env = { ...process.env, PATH: path.join(delimiter) };
  // Not `npm ci`: it refuses a lock file in which optional packages for other platforms are missing, and npm leaves
  // those out when the registry at hand does not carry them. Versions and hashes of the lock file bind here as well.
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = spawnSync('npm', args, { cwd: root, env, stdio: ['ignore', 'ignore', 'inherit'] });
  process.exitCode = npm.status ?? 1;
  if (npm.status === 0) linkNode();
  if (npm.status === 0 && !hasNode()) {
    // It is optional, as each platform has its own: npm goes on without it when its download fails.
    console.error('npm left out the Node.js that everything runs on; is the registry reachable? Run this again.');
    process.exitCode = 1;
  }
}

/** npm 10 removes the link with the packages for other platforms, which have a program of the same name. */
function linkNode() {
  const program = `node-${process.platform}-${process.arch}/bin/node`;
  if (hasNode() || !existsSync(resolve(root, 'node_modules', program))) return;
  mkdirSync(resolve(root, 'node_modules/.bin'), { recursive: true });
  symlinkSync(`../${program}`, resolve(root, 'node_modules/.bin/node'));
}

function hasNode() {
  return existsSync(resolve(root, 'node_modules/.bin/node'));
}

/**
 * Every package of the lock file is there in the same version, and nothing else; optional ones may be absent. Ours are
 * links, so their version changes nothing.
 */
function isCurrent() {
  if (!existsSync(installedLock) || !hasNode()) return false;
  const wanted = packagesOf(resolve(root, 'package-lock.json'));
  const installed = packagesOf(installedLock);
  return (
    Object.entries(wanted).every(([path, entry]) =>
      installed[path]
        ? !path.includes('node_modules/') || same(installed[path], entry)
        : path === '' || entry.optional === true || entry.devOptional === true,
    ) && Object.keys(installed).every((path) => wanted[path] !== undefined)
  );
}

function packagesOf(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}

function same(left, right) {
  return left.version === right.version && left.integrity === right.integrity;
}
