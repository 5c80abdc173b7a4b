import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildImages, imageOf, services } from '../../images/build.ts';
import { podmanEngine, revisionOf } from '../../images/engine.ts';
import { root, say } from '../../local/settings.ts';
import { baseRelease, unpackRelease } from '../../../test/beside/last-release.ts';
import type { Release } from '../../../test/beside/last-release.ts';

/** A release with its files in a folder of their own. */
export interface PreviousRelease extends Release {
  folder: string;
}

/** The latest release that CHANGELOG.md names, or that of BASE, its files laid out in `dir`. */
export function unpackPrevious(dir: string): PreviousRelease {
  const release = baseRelease(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'));
  const folder = unpackRelease(root, dir, release);
  return { ...release, folder };
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
