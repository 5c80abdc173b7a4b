import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildImages, imageOf, services } from '../../images/build.ts';
import { podmanEngine, revisionOf } from '../../images/engine.ts';
import { root, say } from '../../local/settings.ts';
import { baseRelease, unpackRelease } from '../../../test/beside/last-release.ts';
import type { Release } from '../../../test/beside/last-release.ts';
import { podOf } from '../manifests.ts';
import type { Manifest } from '../manifests.ts';

/** The first one that builds all images at once; it knows the packages that 0.2.0 has. */
const FIRST_DOCKERFILE = '1333195a8038ff019ae68e53d461ba1afdd4b5c5';

/** A release with its files in a folder of their own. */
export interface PreviousRelease extends Release {
  folder: string;
}

/** The latest release that CHANGELOG.md names, or that of BASE, its files laid out in `dir`. */
export function unpackPrevious(dir: string): PreviousRelease {
  const release = baseRelease(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'));
  const folder = unpackRelease(root, dir, release);
  // 0.2.0 installed everything anew for each of its six images, without a name for their user.
  if (!existsSync(join(folder, 'deploy/images/assemble.ts'))) takeDockerfile(folder);
  return { ...release, folder };
}

function takeDockerfile(folder: string): void {
  const paths = ['Dockerfile', '.dockerignore', 'deploy/images'];
  const files = execFileSync('git', ['archive', FIRST_DOCKERFILE, ...paths], { cwd: root, maxBuffer: 2 ** 24 });
  execFileSync('tar', ['-xf', '-', '-C', folder], { input: files });
}

/** Builds the images of a release unless they are there already; their tag is its version. */
export async function ensureImages({ version, commit, folder }: PreviousRelease): Promise<void> {
  const engine = podmanEngine();
  const own = services.filter((name) => existsSync(join(folder, 'services', name)));
  const missing = own.filter((name) => revisionOf(engine, imageOf(name, version)) !== commit);
  if (missing.length === 0) return;
  say('previous', `building the images of ${version}`);
  await buildImages(engine, missing, { folder, tag: version, version, revision: commit });
}

/**
 * The jobs of a release as its images understand them. The chart of 0.2.0 was ahead of its images: these migrate with
 * the configuration of the whole service only, and know `topics create` instead of `topics apply`.
 */
export function jobsOf({ version }: PreviousRelease, manifests: Manifest[]): Manifest[] {
  if (version !== '0.2.0') return manifests;
  return manifests.map((manifest) => {
    if (manifest.kind !== 'Job') return manifest;
    const job = structuredClone(manifest);
    const container = podOf(job)?.containers[0];
    if (container?.name === 'topics') container.command = ['visionctl', 'topics', 'create'];
    if (container?.name === 'migrate') container.env = environmentOf(manifests, job) ?? [];
    return job;
  });
}

function environmentOf(manifests: Manifest[], { metadata }: Manifest) {
  const name = metadata.name.replace('-migrate-', '-');
  const service = manifests.find((one) => one.kind === 'Deployment' && one.metadata.name === name);
  return service && podOf(service)?.containers[0]?.env;
}
