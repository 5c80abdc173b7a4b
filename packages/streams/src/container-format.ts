export type ContainerFormat = 'mpegts' | 'flv' | 'mov' | 'matroska' | 'mpeg' | 'mjpeg' | 'mpjpeg' | 'h264' | 'hls';

/** Bytes that decide every format known here. */
export const SNIFF_BYTES = 1024;

/** With fewer bytes, nothing is what its first ones say. */
const SIGNATURE_BYTES = 8;

const START_CODE = Buffer.from([0, 0, 0, 1]);

/**
 * The container of a stream by its first bytes; undefined for everything else, HTML above all. ffmpeg gets the
 * format, so of its hundreds of demuxers these few are all that a stranger's bytes can reach.
 */
export function sniffContainer(head: Buffer, contentType = ''): ContainerFormat | undefined {
  if (head.length < SIGNATURE_BYTES) return undefined;
  if (/^multipart\/x-mixed-replace/i.test(contentType)) return 'mpjpeg';
  const text = head
    .subarray(0, 64)
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart();
  if (text.startsWith('#EXTM3U')) return 'hls';
  if (head.subarray(0, 3).toString('latin1') === 'FLV') return 'flv';
  if (['ftyp', 'styp', 'moov'].includes(head.subarray(4, 8).toString('latin1'))) return 'mov';
  if (head.readUInt32BE(0) === 0x1a45dfa3) return 'matroska';
  if (head.readUInt32BE(0) === 0x000001ba) return 'mpeg';
  if (head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff) return 'mjpeg';
  if (isTransportStream(head)) return 'mpegts';
  if (head.subarray(0, 4).equals(START_CODE)) return 'h264';
  return undefined;
}

/** Three packets in a row; the stream may have been joined in the middle of one. */
function isTransportStream(head: Buffer): boolean {
  for (let start = 0; start < 188 && start + 2 * 188 < head.length; start += 1) {
    if (head[start] === 0x47 && head[start + 188] === 0x47 && head[start + 376] === 0x47) return true;
  }
  return false;
}
