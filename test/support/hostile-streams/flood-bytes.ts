import { formatRtmp, MESSAGE } from '../../../services/inference/src/inputs/rtmp/rtmp-message.ts';

/** What a stream sends without end once it has turned hostile. Each is some kilobytes that can be repeated. */

const KIB = 1024;
const times = (count: number, piece: (index: number) => Buffer) =>
  Buffer.concat(Array.from({ length: count }, (_, at) => piece(at)));
const repeated = (...bytes: number[]) => Buffer.alloc(64 * KIB - ((64 * KIB) % bytes.length), Buffer.from(bytes));
const message = (type: number, ...payload: Buffer[]) =>
  formatRtmp(6, { type, streamId: 1, payload: Buffer.concat(payload) });
const video = (...payload: Buffer[]) => message(MESSAGE.video, ...payload);

/** Bytes of RTP over the connection of RTSP, with numbers and times that go on. */
function rtp(count: number, payload: Buffer): Buffer {
  return times(count, (at) => {
    const packet = Buffer.alloc(16 + payload.length);
    packet.set([0x24, 0, 0, 12 + payload.length, 0x80, 0x80 | 96]);
    packet.writeUInt16BE(at & 0xffff, 6);
    packet.writeUInt32BE(at * 3000, 8);
    packet.set(payload, 16);
    return packet;
  });
}

const parameterSet = Buffer.from('6742001e', 'hex');
/** A configuration of H.264 of so many sets of each kind. */
const configuration = (set: Buffer) => {
  const unit = Buffer.concat([Buffer.from([0, set.length]), set]);
  const head = Buffer.from([0x17, 0, 0, 0, 0, 1, 0x42, 0, 0x1e, 0xff]);
  return Buffer.concat([head, Buffer.of(0xff), times(31, () => unit), Buffer.of(255), times(255, () => unit)]);
};

/** One of H.265 of so many arrays of as many empty units as two bytes can announce: 131 KB each. */
const manyUnits = (arrays: number) => {
  const array = Buffer.concat([Buffer.from([0x21, 0xff, 0xff]), Buffer.alloc(2 * 0xffff)]);
  return Buffer.concat([
    Buffer.from([0x1c, 0, 0, 0, 0]),
    Buffer.alloc(22, 1),
    Buffer.of(arrays),
    times(arrays, () => array),
  ]);
};
/** An answer to no command, with a value for each byte. */
const command = Buffer.concat([
  Buffer.from('020001780000000000000000000000', 'hex').subarray(0, 13),
  Buffer.alloc(60 * KIB, 5),
]);
const emptyTag = Buffer.from('090000000000000000000000000000', 'hex');

export const RTSP_FLOODS: Record<string, Buffer> = {
  'RTSP packets without content': repeated(0x24, 2, 0, 0),
  'RTSP packets of one parameter set': rtp(1024, Buffer.concat([Buffer.from([0x18, 0, 4]), parameterSet])),
  'RTSP frames of two bytes': rtp(1024, Buffer.from([0x41, 0x9a])),
};

export const RTMP_FLOODS: Record<string, Buffer> = {
  'RTMP messages of two bytes': Buffer.concat([video(Buffer.of(0x27)), repeated(0xc6, 0x27)]),
  'RTMP video of one byte': times(1024, () => video(Buffer.of(0x27))),
  'RTMP configurations of empty units': times(128, () => video(configuration(Buffer.of()))),
  'RTMP configurations of one set': times(64, () => video(configuration(parameterSet))),
  'RTMP configuration of 3.9 million units': video(manyUnits(60)),
  'RTMP aggregates of empty tags': message(
    MESSAGE.aggregate,
    times(4096, () => emptyTag),
  ),
  'RTMP commands of many values': message(MESSAGE.command, command),
  'RTMP frames of one-byte units': video(Buffer.from([0x27, 1, 0, 0, 0]), repeated(0, 0, 0, 1, 0x41)),
};

const nullPacket = Buffer.alloc(188, 0xff);
nullPacket.set([0x47, 0x1f, 0xff, 0x10]);
export const NULL_PACKETS = times(340, () => nullPacket);

export const HTTP_FLOODS: Record<string, { container: 'mpegts' | 'flv'; bytes: Buffer; isRaw?: boolean }> = {
  'HTTP packets of nothing': { container: 'mpegts', bytes: NULL_PACKETS },
  'HTTP chunks of one byte': { container: 'mpegts', bytes: Buffer.alloc(60 * KIB, '1\r\nG\r\n'), isRaw: true },
  'HTTP tags without content': {
    container: 'flv',
    bytes: Buffer.alloc(60 * KIB, Buffer.from('0800000000000000000000' + '0000000b', 'hex')),
  },
};

const many = (count: number, lines: (index: number) => string) => Array.from({ length: count }, (_, at) => lines(at));
/** Playlists that take the place of an honest one; 0.6 and 0.2 MB. */
export const HLS_FLOODS: Record<string, (number: number) => string[]> = {
  'HLS playlists of 9,990 variants': () =>
    many(9_990, (at) => `#EXT-X-STREAM-INF:BANDWIDTH=${at + 1},CODECS="avc1.42e01e"\n${at}.m3u8`),
  'HLS playlists of 9,990 pieces': (number) => [
    '#EXT-X-TARGETDURATION:1',
    `#EXT-X-MEDIA-SEQUENCE:${number}`,
    ...many(9_990, (at) => `#EXTINF:0.01,\n${number + at}.ts`),
  ],
};
/** Large pieces that hold nothing. */
const PIECES = 'HLS pieces that last no time';
/** Everything comes, but seconds late and at once. */
export const BURSTS = 'HTTP in bursts of 2.6 s';

/** Honest video whose bytes take ffmpeg much time. */
export const LARGE_VIDEO = 'HTTP video of 4K as fast as it is taken';

/** What `server.ts` can play. */
export const HOSTILE_STREAMS: readonly string[] = [
  ...Object.keys(RTSP_FLOODS),
  ...Object.keys(RTMP_FLOODS),
  ...Object.keys(HTTP_FLOODS),
  ...Object.keys(HLS_FLOODS),
  PIECES,
  BURSTS,
  LARGE_VIDEO,
];
