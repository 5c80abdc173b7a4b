/** One RTP packet (RFC 3550, 5.1). */
export interface RtpPacket {
  payloadType: number;
  /** For video: the last packet of a frame. */
  isMarked: boolean;
  sequence: number;
  timestamp: number;
  payload: Buffer;
}

/** @returns undefined for bytes that are no complete packet of version 2 */
export function readRtp(bytes: Buffer): RtpPacket | undefined {
  const [first = 0, second = 0] = bytes;
  if (bytes.length < 12 || first >> 6 !== 2) return undefined;
  let start = 12 + 4 * (first & 0x0f);
  const hasExtension = (first & 0x10) !== 0;
  if (hasExtension && bytes.length < start + 4) return undefined;
  if (hasExtension) start += 4 + 4 * bytes.readUInt16BE(start + 2);
  const padding = (first & 0x20) === 0 ? 0 : (bytes.at(-1) ?? 0);
  const hasWrongPadding = (first & 0x20) !== 0 && padding === 0;
  if (hasWrongPadding || bytes.length < start + padding) return undefined;
  return {
    payloadType: second & 0x7f,
    isMarked: (second & 0x80) !== 0,
    sequence: bytes.readUInt16BE(2),
    timestamp: bytes.readUInt32BE(4),
    payload: bytes.subarray(start, bytes.length - padding),
  };
}

const BYE = 203;

/** Whether a control packet (RTCP, RFC 3550, 6.1) says that the sender leaves. */
export function isGoodbye(bytes: Buffer): boolean {
  for (let at = 0; at + 4 <= bytes.length; at += 4 + 4 * bytes.readUInt16BE(at + 2)) {
    if (bytes[at + 1] === BYE) return true;
  }
  return false;
}
