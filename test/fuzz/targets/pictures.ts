import assert from 'node:assert/strict';
import sharp from 'sharp';
import { ImageRefusedError } from '../../../services/inference/src/domain/image-error.ts';
import { inspectImage } from '../../../services/inference/src/domain/inspect-image.ts';
import { MAX_PIXELS, MAX_SIDE } from '../../../services/inference/src/domain/image-limits.ts';
import { stripPngMetadata } from '../../../services/inference/src/domain/strip-png-metadata.ts';
import { attempt } from '../properties.ts';
import type { FuzzTarget } from '../target.ts';

const reasons = ['not_an_image', 'too_many_pixels', 'not_decodable'];

/** Pictures: one that passes has the size that the inspection says, also in the eyes of the decoder. */
export const target: FuzzTarget = {
  maxBytes: 16_384,
  slowMs: 250,
  bulk: { kind: 'message', mostMs: 100, open: () => inspectLarge },
  check: async (input) => {
    const outcome = attempt(() => inspectImage(input), { by: ImageRefusedError, reasons });
    if ('refused' in outcome) return;
    const { type, width, height } = outcome.read;
    assert.ok(width >= 1 && height >= 1 && width <= MAX_SIDE && height <= MAX_SIDE && width * height <= MAX_PIXELS);
    const bytes = type === 'png' ? stripped(input) : input;
    const seen = await sizeByDecoder(bytes);
    // What the decoder cannot read is left to it to refuse.
    if (seen) assert.deepEqual(seen, { width, height });
  },
};

function stripped(input: Buffer): Uint8Array {
  const bytes = stripPngMetadata(input);
  assert.ok(bytes.length <= input.length);
  assert.deepEqual(stripPngMetadata(bytes), bytes);
  assert.deepEqual(inspectImage(bytes), inspectImage(input));
  return bytes;
}

async function sizeByDecoder(bytes: Uint8Array): Promise<{ width: number; height: number } | undefined> {
  try {
    const { width, height } = await sharp(bytes, { limitInputPixels: false, failOn: 'none' }).metadata();
    return { width, height };
  } catch {
    return undefined;
  }
}

function inspectLarge(file: Buffer): void {
  if (inspectImage(file).type === 'png') stripPngMetadata(file);
}
