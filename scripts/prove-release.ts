/**
 * `make release-proof`: makes a release of this commit with a key of its own, and does with it what docs/kubernetes.md
 * tells an operator to do, against Debian's docker-registry on loopback. `WITHOUT=images` leaves the images out;
 * `RELEASE=folder PUBLIC_KEY=key` takes a release that is there.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { stopAll } from '../deploy/local/down.ts';
import { readSettings, root, say } from '../deploy/local/settings.ts';
import { makeRelease } from './release/bundle/make.ts';
import { makeKeys } from './release/bundle/sign.ts';
import { proveRelease } from './release/proof/prove.ts';
import { buildVersion } from './release/version.ts';

const settings = { ...readSettings(), localDir: join(readSettings().localDir, 'release-proof') };

try {
  await stopAll(settings);
  rmSync(settings.localDir, { recursive: true, force: true });
  mkdirSync(settings.localDir, { recursive: true });
  // Before minutes of building, in which the checkout may move on.
  const [commit = ''] = buildVersion(root).commit.split('-');
  const release = givenRelease() ?? (await ownRelease());
  await proveRelease(settings, { ...release, version: basename(release.folder), commit });
  const withoutImages = process.env['WITHOUT'] === 'images';
  say('proven', `${relative(root, release.folder)}${withoutImages ? ', WITHOUT images: these were not proven' : ''}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await stopAll(settings);
}

function givenRelease() {
  const { RELEASE: folder, PUBLIC_KEY: publicKey } = process.env;
  if (!folder) return undefined;
  if (!publicKey) throw new Error('PUBLIC_KEY has to be the public key that RELEASE was signed with.');
  return { folder: resolve(root, folder), publicKey };
}

async function ownRelease() {
  const key = join(settings.localDir, 'release.key');
  const publicFile = join(settings.localDir, 'release.pub');
  makeKeys(key, publicFile);
  const folder = await makeRelease({
    key,
    withoutImages: process.env['WITHOUT'] === 'images',
    parent: settings.localDir,
  });
  const publicKey = readFileSync(publicFile, 'utf8').trim().split('\n').at(-1) ?? '';
  return { folder, publicKey };
}
