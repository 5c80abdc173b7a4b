import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { mayInstall, root, say } from './settings.ts';
import type { Settings } from './settings.ts';

/**
 * Folder with every jar that the pom of a part names, downloaded once per machine. The folder is named after the pom's
 * content and appears by a rename, so copies that start together do not meet halves.
 */
export function jarsOf(
  settings: Pick<Settings, 'cacheDir'>,
  part: string,
  folder = join(root, 'deploy/local', part),
): string {
  const pom = join(folder, 'pom.xml');
  const digest = createHash('sha256').update(readFileSync(pom)).digest('hex').slice(0, 12);
  const dir = join(settings.cacheDir, `${part}-${digest}`);
  if (existsSync(dir)) return dir;
  if (!mayInstall()) throw new Error(`The jars of ${part} are missing, and VISION_INSTALL=never forbids downloads.`);
  say(part, 'downloading its jars (only once)');
  const fresh = `${dir}.${process.pid}`;
  mkdirSync(settings.cacheDir, { recursive: true });
  const args = [
    '-q',
    '-B',
    '-f',
    pom,
    'dependency:copy-dependencies',
    '-DincludeScope=runtime',
    `-DoutputDirectory=${fresh}`,
  ];
  const maven = spawnSync('mvn', args, { encoding: 'utf8', cwd: '/' });
  if (maven.status !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    throw new Error(
      `Maven could not fetch the jars of ${part}:\n${maven.stdout.trim().split('\n').slice(-5).join('\n')}`,
    );
  }
  try {
    renameSync(fresh, dir);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    if (!existsSync(dir)) throw error;
  }
  return dir;
}
