import { imageSize } from './engine.ts';
import type { Engine } from './engine.ts';

const MB = 1_000_000;

/** Most megabytes that the image of a service has beyond its base. */
const limitOf = (service: string) => (service === 'inference' ? 700 : 250);

/** Prints what each image has beyond its base. @throws Error naming those that have too much. */
export function checkSizes(engine: Engine, base: string, images: Record<string, string>): void {
  const baseSize = sizeOf(engine, base);
  console.log(`${'image'.padEnd(28)} ${'MB'.padStart(6)} ${'beyond the base'.padStart(16)} ${'limit'.padStart(6)}`);
  console.log(`${base.padEnd(28)} ${megabytes(baseSize)}`);
  const tooLarge = Object.entries(images).filter(([service, image]) => {
    const size = sizeOf(engine, image);
    const own = size - baseSize;
    console.log(
      `${image.padEnd(28)} ${megabytes(size)} ${megabytes(own).padStart(16)} ${String(limitOf(service)).padStart(6)}`,
    );
    return own > limitOf(service) * MB;
  });
  if (tooLarge.length > 0) throw new Error(`Too large: ${tooLarge.map(([, image]) => image).join(', ')}`);
}

function sizeOf(engine: Engine, image: string): number {
  const size = imageSize(engine, image);
  if (size === undefined) throw new Error(`There is no image ${image}; "make images" builds it.`);
  return size;
}

const megabytes = (bytes: number) => (bytes / MB).toFixed(0).padStart(6);
