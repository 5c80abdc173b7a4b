export type ImageType = 'jpeg' | 'png' | 'webp';

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const JPEG = [0xff, 0xd8, 0xff];
const RIFF = [0x52, 0x49, 0x46, 0x46];
const WEBP = [0x57, 0x45, 0x42, 0x50];

/** The type that the leading bytes show; 12 bytes are enough. Declared types and file names play no part. */
export function sniffImageType(bytes: Uint8Array): ImageType | undefined {
  const startsWith = (signature: readonly number[], offset = 0) =>
    signature.every((value, index) => bytes[offset + index] === value);
  if (startsWith(JPEG)) return 'jpeg';
  if (startsWith(PNG)) return 'png';
  return startsWith(RIFF) && startsWith(WEBP, 8) ? 'webp' : undefined;
}
