import { root } from '../local/settings.ts';
import { writeSection } from '../../scripts/release/written-section.ts';
import { imageSize } from './engine.ts';
import type { Engine } from './engine.ts';

const MB = 1_000_000;

/** Most megabytes that the image of a service has beyond its base. */
const limitOf = (service: string) => (service === 'inference' ? 700 : 250);

interface Sizes {
  base: { image: string; bytes: number };
  services: { service: string; image: string; bytes: number; own: number }[];
}

/** Prints what each image has beyond its base. @throws Error naming those that have too much. */
export function checkSizes(engine: Engine, base: string, images: Record<string, string>): Sizes {
  const sizes = sizesOf(engine, base, images);
  console.log(`${'image'.padEnd(28)} ${'MB'.padStart(6)} ${'beyond the base'.padStart(16)} ${'limit'.padStart(6)}`);
  console.log(`${base.padEnd(28)} ${megabytes(sizes.base.bytes).padStart(6)}`);
  for (const { service, image, bytes, own } of sizes.services) {
    const limit = String(limitOf(service)).padStart(6);
    console.log(`${image.padEnd(28)} ${megabytes(bytes).padStart(6)} ${megabytes(own).padStart(16)} ${limit}`);
  }
  const tooLarge = sizes.services.filter(({ service, own }) => own > limitOf(service) * MB);
  if (tooLarge.length > 0) throw new Error(`Too large: ${tooLarge.map(({ image }) => image).join(', ')}`);
  return sizes;
}

/** Writes the sizes into docs/containers.md. */
export function recordSizes({ base, services }: Sizes): void {
  const rows = services.map(
    ({ service, bytes, own }) => `| ${service} | ${megabytes(bytes)} | ${megabytes(own)} | ${limitOf(service)} |`,
  );
  const table = [
    '| image | MB | beyond the base | limit |',
    '|---|---|---|---|',
    `| base: \`${base.image}\` | ${megabytes(base.bytes)} | | |`,
    ...rows,
  ];
  writeSection(root, 'images', table.join('\n'));
}

function sizesOf(engine: Engine, base: string, images: Record<string, string>): Sizes {
  const baseBytes = sizeOf(engine, base);
  const services = Object.entries(images).map(([service, image]) => {
    const bytes = sizeOf(engine, image);
    return { service, image, bytes, own: bytes - baseBytes };
  });
  return { base: { image: base, bytes: baseBytes }, services };
}

function sizeOf(engine: Engine, image: string): number {
  const size = imageSize(engine, image);
  if (size === undefined) throw new Error(`There is no image ${image}; "make images" builds it.`);
  return size;
}

const megabytes = (bytes: number) => (bytes / MB).toFixed(0);
