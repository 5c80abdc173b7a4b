import { createHash } from 'node:crypto';
import { meaningPrefix } from '@vision/contracts/create-query';
import type { CreateQuery } from '@vision/contracts/create-query';

interface Meaning {
  sceneCode: string;
  images: readonly { sha256: string; bytes: number }[];
}

/**
 * Fingerprint of an image call: its query, the scene after defaulting and the contents of the images in their order.
 * File names, declared types, the boundary and the order of other parts do not count. It is the hexadecimal SHA-256 of
 * a versioned text; without a query the text is that of releases that had no query.
 */
export function fingerprintOf({ sceneCode, images }: Meaning, query: CreateQuery): string {
  const prefix = meaningPrefix(query);
  const version = prefix === 'v1' ? ['image-detection/1'] : ['image-detection/2', prefix];
  const parts = images.map(({ sha256, bytes }) => `${sha256}:${bytes}`);
  return createHash('sha256')
    .update(JSON.stringify([...version, sceneCode, ...parts]))
    .digest('hex');
}
