import { createHash } from 'node:crypto';

/**
 * What an image call means: the scene after defaulting and the pictures in their order, by content. File names,
 * declared types, the boundary and the order of other parts say nothing. Hexadecimal SHA-256 of a versioned text.
 */
export function fingerprintOf(sceneCode: string, images: readonly { sha256: string; bytes: number }[]): string {
  const parts = images.map(({ sha256, bytes }) => `${sha256}:${bytes}`);
  return createHash('sha256')
    .update(JSON.stringify(['image-detection/1', sceneCode, ...parts]))
    .digest('hex');
}
