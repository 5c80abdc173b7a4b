import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { join } from 'node:path';
import { installMissing } from '../local/host-programs.ts';
import { root, say } from '../local/settings.ts';
import { imageSize, output } from './engine.ts';
import type { Engine } from './engine.ts';

/** The npm that comes with the Node.js of the official image. */
const NPM_VERSION = '11.21.2';

/**
 * The image that ours begin with: BASE of the environment, else the one that the Dockerfile names, else one that is
 * made here of Debian's packages and Node.js from the npm registry, where no registry of images can be reached.
 */
export function baseImage(engine: Engine): string {
  const given = process.env['BASE'];
  if (given) return given;
  const official = /^ARG BASE=(.+)$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))?.[1] ?? '';
  if (imageSize(engine, official) !== undefined) return official;
  const standIn = `vision/base:${nodeVersion()}`;
  if (imageSize(engine, standIn) !== undefined) return standIn;
  say('images', `looking for ${official}`);
  if (spawnSync(engine.name, ['pull', '--quiet', official], { stdio: 'ignore', timeout: 600_000 }).status === 0)
    return official;
  if (engine.name === 'docker') throw new Error(`${official} cannot be pulled; name another base: BASE=… make images`);
  say('images', 'it cannot be pulled: making a base of Debian 13 and Node.js');
  makeStandIn(standIn);
  return standIn;
}

function nodeVersion(): string {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>;
  };
  return `debian-13-node-${optionalDependencies[`node-linux-${arch()}`] ?? 'unknown'}`;
}

function makeStandIn(image: string): void {
  installMissing(['debootstrap']);
  const system = output(['sh', 'scripts/debian-base.sh']).split('\n').at(-1) ?? '';
  const container = output(['buildah', 'from', 'scratch']);
  try {
    const files = output(['buildah', 'mount', container]);
    output(['cp', '-a', `${system}/.`, files]);
    cpSync(join(root, `node_modules/node-linux-${arch()}/bin/node`), join(files, 'usr/local/bin/node'));
    installNpm(files);
    output([
      'buildah',
      'config',
      '--env',
      'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      container,
    ]);
    output(['buildah', 'umount', container]);
    output(['buildah', 'commit', '--format', 'docker', container, image]);
  } finally {
    output(['buildah', 'rm', container]);
  }
}

function installNpm(files: string): void {
  const scratch = mkdtempSync(join(tmpdir(), 'vision-npm-'));
  try {
    output(['npm', 'pack', '--silent', `npm@${NPM_VERSION}`, '--pack-destination', scratch]);
    const folder = join(files, 'usr/local/lib/node_modules/npm');
    mkdirSync(folder, { recursive: true });
    output([
      'tar',
      '-xzf',
      join(scratch, `npm-${NPM_VERSION}.tgz`),
      '-C',
      folder,
      '--strip-components=1',
      '--no-same-owner',
    ]);
    for (const name of ['npm', 'npx']) {
      symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(files, 'usr/local/bin', name));
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
