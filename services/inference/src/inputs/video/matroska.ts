export interface MatroskaTrack {
  codec: 'V_MPEG4/ISO/AVC' | 'V_MPEGH/ISO/HEVC' | 'V_MJPEG';
  /** Decoder configuration, needed before the first frame: avcC or hvcC; none for motion JPEG. */
  codecPrivate?: Buffer;
}

export interface MatroskaFrame {
  timeMs: number;
  /** A key frame: decoding may begin here. */
  isKey: boolean;
  data: Buffer;
}

/**
 * The beginning of a live Matroska stream (RFC 9559) with one video track: no length, no index, times in milliseconds.
 * ffmpeg reads this container from a pipe with the presentation times intact for H.264, H.265 and motion JPEG. The
 * codec's own data has the frame size; the 1×1 here fills fields that the format requires.
 */
export function matroskaHeader({ codec, codecPrivate }: MatroskaTrack): Buffer {
  const ebml = element('1a45dfa3', element('4282', Buffer.from('matroska')), number('4287', 4), number('4285', 2));
  const info = element('1549a966', number('2ad7b1', 1_000_000), text('4d80', 'vision'), text('5741', 'vision'));
  const track = element(
    'ae',
    number('d7', 1),
    number('73c5', 1),
    number('83', 1),
    number('9c', 0),
    text('86', codec),
    ...(codecPrivate ? [element('63a2', codecPrivate)] : []),
    element('e0', number('b0', 1), number('ba', 1)),
  );
  return Buffer.concat([ebml, UNKNOWN_SIZE_SEGMENT, info, element('1654ae6b', track)]);
}

/** One frame as a cluster of its own, so that it can be decoded as soon as its last byte has arrived. */
export function matroskaFrame({ timeMs, isKey, data }: MatroskaFrame): Buffer {
  const trackAndTime = Buffer.from([0x81, 0, 0, isKey ? 0x80 : 0]);
  return element('1f43b675', number('e7', timeMs), element('a3', trackAndTime, data));
}

const UNKNOWN_SIZE_SEGMENT = Buffer.from('1853806701ffffffffffffff', 'hex');

function element(id: string, ...content: Buffer[]): Buffer {
  const size = content.reduce((sum, part) => sum + part.length, 0);
  // Eight bytes of size, of which the first is the marker 0x01.
  const head = Buffer.alloc(8);
  head.writeBigUInt64BE(BigInt(size) | (1n << 56n));
  return Buffer.concat([Buffer.from(id, 'hex'), head, ...content]);
}

function number(id: string, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return element(id, bytes);
}

function text(id: string, value: string): Buffer {
  return element(id, Buffer.from(value, 'latin1'));
}
