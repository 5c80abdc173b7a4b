/**
 * `make release`: everything that a release consists of, in .local/release/<version>. Only at the commit of a release
 * has it a version without suffix. WITHOUT=images leaves the images out, and the chart then names tags.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, installMissing } from '../deploy/local/host-programs.ts';
import { root, say } from '../deploy/local/settings.ts';
import { writeChart } from './release/bundle/chart.ts';
import { writeImages } from './release/bundle/images.ts';
import { checksums, digestsOf, provenance } from './release/bundle/provenance.ts';
import { modifiedFiles } from './release/repository.ts';
import { buildVersion } from './release/version.ts';

const VERIFY = `#!/bin/sh
# sh verify.sh <public key>: whether these files are those that the holder of the key signed.
cd "$(dirname "$0")" && minisign -Vm SHA256SUMS -P "$1" && sha256sum --check --strict SHA256SUMS
`;

try {
  await makeRelease(process.env['RELEASE_KEY'], process.env['WITHOUT'] === 'images');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function makeRelease(key: string | undefined, withoutImages: boolean): Promise<void> {
  const changed = modifiedFiles(root);
  if (changed.length > 0) throw new Error(`A release is made of a commit. Commit or remove: ${changed.join(', ')}`);
  const build = buildVersion(root);
  if (build.isRelease && (key === undefined || withoutImages))
    throw new Error('A release has its images and a signature: set RELEASE_KEY to the file of the minisign key.');
  const folder = join(root, '.local/release', build.version);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const startedOn = new Date();
  const digests = withoutImages ? {} : await writeImages(folder, build);
  writeChart(folder, build.version, digests);
  if (withoutImages) writeFileSync(join(folder, 'LEFT_OUT'), 'images and their bills of materials\n');
  const made = await digestsOf(folder);
  const statement = provenance(made, { ...build, startedOn, finishedOn: new Date() });
  writeFileSync(join(folder, 'provenance.intoto.json'), `${JSON.stringify(statement, null, 2)}\n`);
  writeFileSync(join(folder, 'verify.sh'), VERIFY);
  writeFileSync(join(folder, 'SHA256SUMS'), checksums(await digestsOf(folder)));
  if (key === undefined) say('release', 'not signed: RELEASE_KEY names no key');
  else sign(folder, key, build.version);
  say('release', `${folder.slice(root.length + 1)}: ${made.size} files`);
}

/** The checksums name every file, so one signature stands for all. */
function sign(folder: string, key: string, version: string): void {
  installMissing(['minisign']);
  const args = ['-S', '-s', key, '-m', join(folder, 'SHA256SUMS'), '-t', `vision ${version}`];
  // It asks for the password of the key.
  const { status } = spawnSync(findProgram('minisign') ?? 'minisign', args, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`minisign did not sign with ${key}.`);
}
