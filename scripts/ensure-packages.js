/** Runs `npm ci` when node_modules is not what package-lock.json names. Works on any Node from 20 on. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

const root = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const installedLock = resolve(root, 'node_modules/.package-lock.json');

if (!isCurrent()) {
  console.log('npm        installing packages');
  const bin = resolve(root, 'node_modules/.bin');
  // npm would otherwise remove the very node it runs on.
  const path = (process.env.PATH ?? '').split(delimiter).filter((dir) => resolve(dir) !== bin);
  const env = { ...process.env, PATH: path.join(delimiter) };
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    env,
    stdio: 'inherit',
  });
  process.exitCode = npm.status ?? 1;
}

/** Every package of the lock file is there in the same version, and nothing else; optional ones may be absent. */
function isCurrent() {
  if (!existsSync(installedLock)) return false;
  const wanted = packagesOf(resolve(root, 'package-lock.json'));
  const installed = packagesOf(installedLock);
  return (
    Object.entries(wanted).every(([path, entry]) =>
      installed[path]
        ? same(installed[path], entry)
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
