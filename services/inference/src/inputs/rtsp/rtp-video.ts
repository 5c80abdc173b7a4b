import { SourceError } from '@vision/streams/source-error';
import { createTimeline } from '../video/timeline.ts';
import { MAX_PICTURE_BYTES, createJpegPacker, createNalPacker } from '../video/video-packer.ts';
import type { VideoPacker } from '../video/video-packer.ts';
import { createJpegDepacketizer } from './rtp-jpeg.ts';
import { createNalDepacketizer } from './rtp-nal-units.ts';
import { readRtp } from './rtp-packet.ts';
import type { RtpPacket } from './rtp-packet.ts';
import type { VideoDescription } from './sdp.ts';

// Memory of a packet beyond its payload: many tiny packets must not take more than few large ones.
const PACKET_COSTS = 100;

/**
 * Converts the RTP packets of one track to the stream that ffmpeg reads. A frame ends with its marked packet or before
 * the first packet of another time. A frame that lost a packet is dropped, and so are frames that cannot be decoded
 * without it.
 *
 * @param onUnits receives the number of units of packets with several units
 * @returns a function from a packet to the completed output. It throws SourceError `unreadable` for bytes that are no
 * RTP or larger than any frame, and `codec_unsupported` for formats that are not supported here.
 */
export function createRtpVideo(
  description: VideoDescription,
  onUnits: (count: number) => void = () => undefined,
): (bytes: Buffer) => Buffer[] {
  const { codec, payloadType, clockRate } = description;
  const depacketizer = codec === 'mjpeg' ? createJpegDepacketizer() : createNalDepacketizer(codec, onUnits);
  const packer = packerFor(description);
  const timeOf = createTimeline(clockRate);
  let expected: number | undefined;
  let picture: { timestamp: number; size: number; isDamaged: boolean } | undefined;

  const finish = (): Buffer[] => {
    if (!picture) return [];
    const { timestamp, isDamaged } = picture;
    picture = undefined;
    const parts = depacketizer.take();
    const timeMs = timeOf(timestamp);
    if (parts && !isDamaged) return packer.pack(timeMs, parts);
    packer.interrupt();
    return [];
  };

  const add = ({ timestamp, payload, isMarked }: RtpPacket, isAfterGap: boolean): Buffer[] => {
    picture ??= { timestamp, size: 0, isDamaged: false };
    picture.size += payload.length + PACKET_COSTS;
    if (picture.size > MAX_PICTURE_BYTES) throw new SourceError('unreadable');
    picture.isDamaged ||= isAfterGap;
    // Payloads of a dropped frame are not collected.
    picture.isDamaged ||= !depacketizer.add(payload);
    return isMarked ? finish() : [];
  };

  return (bytes) => {
    const packet = readRtp(bytes);
    if (!packet) throw new SourceError('unreadable');
    if (packet.payloadType !== payloadType) return [];
    const { sequence, timestamp, payload } = packet;
    const isRepeated = expected !== undefined && sequence === ((expected - 1) & 0xffff);
    if (isRepeated) return [];
    const isAfterGap = expected !== undefined && sequence !== expected;
    expected = (sequence + 1) & 0xffff;
    if (isAfterGap) {
      packer.interrupt();
      if (picture) picture.isDamaged = true;
    }
    // A packet that holds only padding is a keep-alive.
    if (payload.length === 0) return [];
    const before = picture && picture.timestamp !== timestamp ? finish() : [];
    return [...before, ...add(packet, isAfterGap)];
  };
}

function packerFor({ codec, parameterSets }: VideoDescription): VideoPacker {
  if (codec === 'mjpeg') return createJpegPacker();
  const packer = createNalPacker(codec);
  packer.learn(parameterSets);
  return packer;
}
