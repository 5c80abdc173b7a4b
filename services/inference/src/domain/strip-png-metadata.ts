const SIGNATURE_BYTES = 8;
/** Length and type before, checksum after the data of a chunk (PNG specification, section 5.3). */
const FRAME_BYTES = 12;
const ANCILLARY = 0x20;
const KEPT = new Set(
  ['tRNS', 'gAMA', 'cHRM', 'sRGB', 'iCCP', 'sBIT', 'eXIf'].map((type) => Buffer.from(type).readUInt32BE()),
);

/**
 * A PNG without the chunks that say nothing about how it looks. Compressed text grows a thousandfold when a decoder
 * reads it, long before any limit on pixels counts: 8 MiB of it become gigabytes. What breaks the framing is passed on
 * as it is, so the decoder refuses it. Without such chunks it is `bytes` itself, not a copy. `bytes` must begin with
 * the signature of PNG.
 */
export function stripPngMetadata(bytes: Uint8Array): Uint8Array {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kept: Buffer[] = [source.subarray(0, SIGNATURE_BYTES)];
  let isWhole = true;
  for (let at = SIGNATURE_BYTES, end = at; at < source.length; at = end) {
    const whole = chunkEnd(source, at);
    end = whole ?? source.length;
    if (whole === undefined || isKept(source, at)) kept.push(source.subarray(at, end));
    else isWhole = false;
  }
  return isWhole ? bytes : Buffer.concat(kept);
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
