/**
 * `node deploy/images/assemble.ts FOLDER`, run by the Dockerfile after everything is compiled: picks what belongs into
 * the images. `FOLDER/common` is in all of them, `FOLDER/<service>` is what one service has besides.
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { belongs } from './prune.ts';

const root = process.cwd();
const out = process.argv[2] ?? '';
const everywhere = ['contracts', 'shared', 'kafka', 'objects', 'creation', 'streams', 'visionctl'].map(
  (name) => `packages/${name}`,
);
const common = packagesOf(everywhere);
copyPackages([...common], join(out, 'common'));
copyFolders(['config'], join(out, 'common'));
copyFileSync('deploy/images/healthcheck.ts', join(out, 'common/app/healthcheck.ts'));

for (const name of readdirSync('services')) {
  const all = packagesOf([`services/${name}`]);
  copyPackages(
    [...all].filter((folder) => !common.has(folder)),
    join(out, name),
  );
}
copyFolders(['docs/openapi', 'packages/console/dist'], join(out, 'gateway'));

/** Folders, relative to the root, of these workspaces and of all that they need when they run. */
function packagesOf(workspaces: string[]): Set<string> {
  const args = ['ls', '--all', '--parseable', '--omit=dev', ...workspaces.flatMap((name) => ['--workspace', name])];
  const npm = spawnSync('npm', args, { encoding: 'utf8' });
  // Packages that ask for another version of a peer are named as well, with an exit code; the lock file has decided.
  const problems = npm.stderr.split('\n').filter((line) => /\b(missing|extraneous|ENOENT)\b/.test(line));
  if (npm.stdout === '' || problems.length > 0) throw new Error(`npm ls failed:\n${npm.stderr}`);
  const folders = npm.stdout.split('\n').map((path) => relative(root, path));
  // A workspace shows up as the link to it.
  return new Set([...workspaces, ...folders.filter((path) => path.startsWith('node_modules') && !isLink(path))]);
}

function isLink(path: string): boolean {
  return lstatSync(path).isSymbolicLink();
}

function copyPackages(folders: string[], target: string): void {
  for (const folder of folders) {
    const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string };
    copyTree(folder, target, name);
    if (folder.startsWith('node_modules')) continue;
    const link = join('node_modules', name);
    mkdirSync(dirname(join(target, 'app', link)), { recursive: true });
    symlinkSync(readlinkSync(link), join(target, 'app', link));
  }
}

/** Without the packages inside, which are needed or not by themselves. */
function copyTree(folder: string, target: string, packageName: string): void {
  cpSync(folder, join(target, 'app', folder), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (from) => {
      const path = relative(folder, from).split(sep).join('/');
      if (path === '') return true;
      if (path === 'node_modules' || path === 'src') return path === 'src' && folder.startsWith('node_modules');
      return belongs(packageName, path, lstatSync(from).isDirectory());
    },
  });
}

function copyFolders(folders: string[], target: string): void {
  for (const folder of folders) cpSync(folder, join(target, 'app', folder), { recursive: true });
}
