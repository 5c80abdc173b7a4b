import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildVersion } from '../version.ts';

type Build = Pick<BuildVersion, 'version' | 'isRelease'>;

/**
 * An empty folder beside the one that the finished release gets, so that one that was broken off is none. What is not a
 * release may be made again.
 * @throws Error when the release was made before: new images would have other digests under the same version.
 */
export function beginFolder(parent: string, { version, isRelease }: Build): string {
  const target = join(parent, version);
  if (isRelease && existsSync(target))
    throw new Error(
      `${version} was made before: it is in ${target}. Images that are built again have other digests, and a version ` +
        'has to name one set of images. Publish that directory. If it was never published, you may delete it and run ' +
        'this again. If it was, correct the code and release the next version.',
    );
  const folder = join(parent, `${version}.unfinished`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Gives the folder its name. Returns its path. */
export function finishFolder(folder: string, parent: string, { version }: Build): string {
  const target = join(parent, version);
  rmSync(target, { recursive: true, force: true });
  renameSync(folder, target);
  return target;
}
