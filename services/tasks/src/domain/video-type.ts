/** Number of bytes that always decide. */
export const SNIFF_BYTES = 4096;

/** Brands of MP4 and QuickTime files that carry video (registry: mp4ra.org/registered-types/brands). */
const videoBrands = new Set(
  'isom iso2 iso3 iso4 iso5 iso6 iso7 iso8 iso9 mp41 mp42 mp71 avc1 hvc1 hev1 av01 qt__ M4V_ M4VH M4VP MSNV dash msdh msix cmfc mmp4 F4V_ XAVC NDSC NDSM NDSH NDXC NDXM NDXH'
    .split(' ')
    .map((brand) => brand.replaceAll('_', ' ')),
);
/** Brands of files that are not videos, even if compatible with one: still images, audio, raw photos. */
const otherBrands = /^(hei[cxms]|hev[cmsx]|mif1|msf1|avi[fs]|miaf|MA1[AB]|jpeg|jxl |crx |M4A |M4B |M4P |F4A |F4B )$/;
/** First atoms of QuickTime files from before `ftyp`. */
const oldAtoms = new Set(['moov', 'mdat', 'wide', 'free']);

export type VideoMediaType = 'video/mp4' | 'video/quicktime';

/** Media type of a video by its first 12 bytes: QuickTime names its brand, or is older than brands. */
export const mediaTypeOf = (head: Buffer): VideoMediaType =>
  head.toString('latin1', 4, 8) !== 'ftyp' || head.toString('latin1', 8, 12) === 'qt  '
    ? 'video/quicktime'
    : 'video/mp4';

/**
 * Whether the beginning of a file is that of an MP4 or MOV video, by content alone.
 * @returns undefined when more bytes are needed; `isWhole` means that there are no more.
 */
export function isVideo(head: Buffer, isWhole: boolean): boolean | undefined {
  if (head.length < 12) return isWhole ? false : undefined;
  const size = head.readUInt32BE(0);
  const type = head.toString('latin1', 4, 8);
  if (type !== 'ftyp') return oldAtoms.has(type) && (size === 0 || size === 1 || size >= 8);
  if (size < 16 || size > SNIFF_BYTES || size % 4 !== 0) return false;
  const major = head.toString('latin1', 8, 12);
  if (otherBrands.test(major)) return false;
  if (videoBrands.has(major)) return true;
  if (head.length < size) return isWhole ? false : undefined;
  const compatible = Array.from({ length: (size - 16) / 4 }, (_, index) =>
    head.toString('latin1', 16 + index * 4, 20 + index * 4),
  );
  return (
    compatible.some((brand) => videoBrands.has(brand)) && !compatible.some((brand) => /^(hei|mif1|avif)/.test(brand))
  );
}
