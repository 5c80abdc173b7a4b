/** Pixels of the largest image that is decoded. */
export const MAX_PIXELS = 50_000_000;
/** Longest side: what WebP can hold, and no camera exceeds. Thin images cost far more than their pixels. */
export const MAX_SIDE = 16_383;
/** Encoders write a progressive JPEG in about ten scans; each one is work for the whole image. */
export const MAX_SCANS = 100;
/**
 * Chunks of a PNG or WebP, markers of a JPEG. Encoders write blocks of 8 KiB and more, which makes a thousand of the
 * largest file.
 */
export const MAX_CHUNKS = 4_096;
/** Frames of an animation, of which only the first one counts. */
export const MAX_FRAMES = 500;
/** Compressed bytes of a colour profile; deflate may make a thousandfold of them. */
export const MAX_PROFILE_BYTES = 128 * 1024;
/**
 * Processor time up to which an image is ordinary, milliseconds: photographs of phones and images of the web are,
 * and decoding one takes about as long as detecting on it does.
 */
export const ORDINARY_MS = 100;
