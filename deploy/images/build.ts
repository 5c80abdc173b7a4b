import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root, say } from '../local/settings.ts';
import { baseImage } from './base.ts';
import { output, registrySecrets, runLogged } from './engine.ts';
import type { Engine } from './engine.ts';

/** In the order of the Dockerfile: what is built for one is there for the next. */
export const services = ['gateway', 'tasks', 'images', 'results', 'quota', 'inference'] as const;

/** Tag of the images; the one that docker-compose.yml names unless the environment says another. */
export const imageOf = (service: string) => `vision/${service}:${process.env['IMAGE_TAG'] || 'local'}`;

export const imagesOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, imageOf(name)]));

/** Builds the images of these services one after the other; returns the base that they have in common. */
export async function buildImages(engine: Engine, names: readonly string[]): Promise<string> {
  const base = baseImage(engine);
  const log = join(root, '.local/images/build.log');
  rmSync(log, { force: true });
  for (const name of names) {
    const from = Date.now();
    say('images', `building ${name} (output in .local/images/build.log)`);
    const args = ['--build-arg', `BASE=${base}`, '--target', name, '--tag', imageOf(name), ...labels(name)];
    await runLogged([...engine.build, ...args, ...registrySecrets(), '.'], log);
    say('images', `${imageOf(name)} built in ${Math.round((Date.now() - from) / 1000)} s`);
  }
  return base;
}

function labels(service: string): string[] {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const values = { title: `vision ${service}`, version, revision: revision() };
  return Object.entries(values).flatMap(([name, value]) => ['--label', `org.opencontainers.image.${name}=${value}`]);
}

/** The commit, marked when the files differ from it; "unknown" outside of a repository. */
function revision(): string {
  const asked = spawnSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' });
  if (asked.status !== 0) return 'unknown';
  return `${output(['git', 'rev-parse', 'HEAD'])}${asked.stdout.trim() === '' ? '' : '-modified'}`;
}
