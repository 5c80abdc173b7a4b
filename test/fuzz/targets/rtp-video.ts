import { SourceError } from '@vision/streams/source-error';
import { createRtpVideo } from '../../../services/inference/src/inputs/rtsp/rtp-video.ts';
import { isGoodbye, readRtp } from '../../../services/inference/src/inputs/rtsp/rtp-packet.ts';
import { checkVideo } from '../matroska-check.ts';
import { readAll, recordsOf } from '../properties.ts';
import type { FuzzTarget } from '../target.ts';

const CODECS = ['h264', 'h265', 'mjpeg'] as const;
const MARKED = 1;
const NEW_TIME = 2;
const LOST = 4;
const RAW = 8;

/**
 * RTP packets of a stream. The first byte chooses the codec; each record begins with a byte of flags, which says
 * whether the rest is a whole packet or a payload that gets the header of the next packet.
 */
export const target: FuzzTarget = {
  maxBytes: 8192,
  bulk: { kind: 'stream', mostMs: 2000, open: openBulk },
  check: (input) => {
    const packets = packetsOf(recordsOf(input.subarray(1)));
    for (const packet of packets) {
      readRtp(packet);
      isGoodbye(packet);
    }
    const read = openVideo(input);
    const reasons = ['unreadable', 'codec_unsupported'];
    const { parts } = readAll(read, packets, { by: SourceError, reasons });
    checkVideo(parts, packets);
  },
};

function openVideo(input: Buffer): (packet: Buffer) => Buffer[] {
  const codec = CODECS[(input[0] ?? 0) % CODECS.length] ?? 'h264';
  const description = {
    codec,
    payloadType: 96,
    clockRate: 90_000,
    trackControl: undefined,
    streamControl: undefined,
  };
  return createRtpVideo({ ...description, parameterSets: [] });
}

/** The first byte of a stream chooses the codec, as it does for an input. */
function openBulk(): (piece: Buffer) => void {
  let read: ((packet: Buffer) => Buffer[]) | undefined;
  return (piece) => {
    read ??= openVideo(piece);
    for (const packet of packetsOf(recordsOf(piece.subarray(1)))) read(packet);
  };
}

function packetsOf(records: readonly Buffer[]): Buffer[] {
  let [sequence, timestamp] = [65_530, 4_294_960_000];
  return records.map((record) => {
    const [flags = 0] = record;
    if ((flags & RAW) !== 0) return record.subarray(1);
    sequence = (sequence + ((flags & LOST) === 0 ? 1 : 2)) & 0xffff;
    if ((flags & NEW_TIME) !== 0) timestamp = (timestamp + 3000) % 2 ** 32;
    const header = Buffer.alloc(12);
    header[0] = 0x80;
    header[1] = 96 | ((flags & MARKED) === 0 ? 0 : 0x80);
    header.writeUInt16BE(sequence, 2);
    header.writeUInt32BE(timestamp, 4);
    return Buffer.concat([header, record.subarray(1)]);
  });
}
