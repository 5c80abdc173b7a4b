/** Spec 4.6 and 8; MiB are 2^20 bytes. */
export const MAX_IMAGE_BYTES = 8 * 1024 * 1024;
export const MAX_BODY_BYTES = 81 * 1024 * 1024;
export const DEFAULT_SCENE = 'fire_smoke';
