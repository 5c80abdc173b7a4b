const SIGNATURE_BYTES = 8;
/** Length and type before, checksum after the data of a chunk (PNG specification, section 5.3). */
const FRAME_BYTES = 12;
const ANCILLARY = 0x20;
const KEPT = new Set(
  ['tRNS', 'gAMA', 'cHRM', 'sRGB', 'iCCP', 'sBIT', 'eXIf'].map((type) => Buffer.from(type).readUInt32BE()),
);

/**
 * A PNG without the chunks that say nothing about how it looks. Compressed text grows a thousandfold when a decoder reads it,
 * long before any limit on pixels counts: 8 MiB of it become gigabytes. What breaks the framing is passed on as it is, so the
 * decoder refuses it. `bytes` must begin with the signature of PNG.
 */
export function stripPngMetadata(bytes: Uint8Array): Uint8Array {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kept = Buffer.allocUnsafe(source.length);
  let size = source.copy(kept, 0, 0, SIGNATURE_BYTES);
  let at = SIGNATURE_BYTES;
  while (at < source.length) {
    const end = chunkEnd(source, at);
    if (end === undefined || isKept(source, at)) size += source.copy(kept, size, at, end ?? source.length);
    at = end ?? source.length;
  }
  return kept.subarray(0, size);
}

/** Undefined when no whole chunk begins here. */
function chunkEnd(source: Buffer, at: number): number | undefined {
  if (at + FRAME_BYTES > source.length) return undefined;
  const end = at + FRAME_BYTES + source.readUInt32BE(at);
  return end > source.length ? undefined : end;
}

function isKept(source: Buffer, at: number): boolean {
  return ((source[at + 4] ?? 0) & ANCILLARY) === 0 || KEPT.has(source.readUInt32BE(at + 4));
}
