import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root, say } from '../../../deploy/local/settings.ts';
import { buildImages, imageOf, services } from '../../../deploy/images/build.ts';
import { output, podmanEngine } from '../../../deploy/images/engine.ts';
import { writeSbom } from '../../../deploy/images/sbom.ts';
import type { BuildVersion } from '../version.ts';

/**
 * Builds the images, and writes each as an OCI archive with its bill of materials. Returns their digests by service,
 * which they keep in every registry.
 */
export async function writeImages(folder: string, { version, commit }: BuildVersion): Promise<Record<string, string>> {
  const engine = podmanEngine();
  await buildImages(engine, services, { folder: root, tag: version, version, revision: commit });
  const digests: Record<string, string> = {};
  for (const dir of ['images', 'sbom']) mkdirSync(join(folder, dir), { recursive: true });
  for (const name of services) {
    const image = imageOf(name, version);
    const archive = join(folder, 'images', `${name}.tar`);
    const digestFile = join(folder, `${name}.digest`);
    output([
      'buildah',
      'push',
      '--quiet',
      '--format',
      'oci',
      '--digestfile',
      digestFile,
      image,
      `oci-archive:${archive}:${version}`,
    ]);
    digests[name] = readFileSync(digestFile, 'utf8').trim();
    rmSync(digestFile);
    renameSync(writeSbom(engine, name, image), join(folder, 'sbom', `${name}.cdx.json`));
    say('release', `images/${name}.tar ${digests[name]}`);
  }
  return digests;
}
