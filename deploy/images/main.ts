/**
 * `node deploy/images/main.ts build|check [service …]`: the images of the services; `make images` builds them all,
 * and `REPORT=1` writes their sizes into docs/containers.md.
 */
import { baseImage } from './base.ts';
import { buildImages, imageOf, imagesOf, ownSource, services } from './build.ts';
import { findEngine } from './engine.ts';
import type { Engine } from './engine.ts';
import { auditPackages, writeSbom } from './sbom.ts';
import { checkSizes, recordSizes } from './sizes.ts';

const [command = '', ...asked] = process.argv.slice(2);
const names = asked.length > 0 ? asked : services;

/** What is in each image, and what is known about it. */
function describe(engine: Engine): void {
  for (const name of names) writeSbom(engine, name, imageOf(name));
  auditPackages();
}

const commands: Record<string, () => Promise<void>> = {
  build: async () => {
    const engine = findEngine();
    const sizes = checkSizes(engine, await buildImages(engine, names, ownSource()), imagesOf(names));
    if (process.env['REPORT'] && asked.length === 0) recordSizes(sizes);
    describe(engine);
  },
  check: async () => {
    const engine = findEngine();
    checkSizes(engine, baseImage(engine), imagesOf(names));
    describe(engine);
  },
};

try {
  const run = commands[command];
  if (run === undefined) throw new Error(`One of: ${Object.keys(commands).join(', ')}`);
  await run();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
