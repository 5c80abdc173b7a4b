import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { root, say } from '../local/settings.ts';
import { buildVersion } from '../../scripts/release/version.ts';
import type { BuildVersion } from '../../scripts/release/version.ts';
import { baseImage } from './base.ts';
import { registrySecrets, runLogged } from './engine.ts';
import type { Engine } from './engine.ts';

/** In the order of the Dockerfile: what is built for one is there for the next. */
export const services = ['gateway', 'tasks', 'images', 'results', 'quota', 'notify', 'inference'] as const;

/** What images are built from, and how they are named. */
export interface Source {
  folder: string;
  tag: string;
  version: string;
  revision: string;
}

/** Tag of the images; the one that docker-compose.yml names unless the environment says another. */
export const imageOf = (service: string, tag = process.env['IMAGE_TAG'] || 'local') => `vision/${service}:${tag}`;

export const imagesOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, imageOf(name)]));

/** This checkout as it is. @throws Error when the tag is that of a release, whose images never change. */
export function ownSource(tag = process.env['IMAGE_TAG'] || 'local', build: BuildVersion = buildVersion(root)): Source {
  const { version, commit, isRelease } = build;
  if (/^v?\d+\.\d+(\.\d+)?$/.test(tag))
    throw new Error(
      `IMAGE_TAG=${tag} is the tag of a release, which only "make release" makes. ` +
        (isRelease ? `This commit is the release ${version}: use "make release".` : `Use ${version}.`),
    );
  return { folder: root, tag, version, revision: commit };
}

/** Builds the images of these services one after the other; returns the base that they have in common. */
export async function buildImages(engine: Engine, names: readonly string[], source: Source): Promise<string> {
  const base = baseImage(engine);
  const log = join(root, '.local/images/build.log');
  rmSync(log, { force: true });
  for (const name of names) {
    const from = Date.now();
    const image = imageOf(name, source.tag);
    say('images', `building ${name} (output in .local/images/build.log)`);
    const given = ['--build-arg', `BASE=${base}`, '--build-arg', `REVISION=${source.revision}`];
    const args = [...given, '--target', name, '--tag', image, ...labels(name, source)];
    await runLogged([...engine.build, ...args, ...registrySecrets(), source.folder], log);
    say('images', `${image} built in ${Math.round((Date.now() - from) / 1000)} s`);
  }
  return base;
}

function labels(service: string, { version, revision }: Source): string[] {
  const values = { title: `vision ${service}`, version, revision };
  return Object.entries(values).flatMap(([name, value]) => ['--label', `org.opencontainers.image.${name}=${value}`]);
}
