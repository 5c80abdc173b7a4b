import { SourceError } from '@vision/streams/source-error';
import { createTimeline } from '../video/timeline.ts';
import { MAX_PICTURE_BYTES, createJpegPacker, createNalPacker } from '../video/video-packer.ts';
import type { VideoPacker } from '../video/video-packer.ts';
import { createJpegDepacketizer } from './rtp-jpeg.ts';
import { createNalDepacketizer } from './rtp-nal-units.ts';
import { readRtp } from './rtp-packet.ts';
import type { RtpPacket } from './rtp-packet.ts';
import type { VideoDescription } from './sdp.ts';

// What a packet takes in memory beside its payload: many tiny ones must not take more than few large ones.
const PACKET_COSTS = 100;

/**
 * Turns the RTP packets of one track into the stream that ffmpeg reads. A picture is over with its marked
 * packet or with the first packet of another time; one that lost a packet is left out, and so is what cannot be
 * decoded without it.
 *
 * @param onUnits hears of units that came several in a packet
 * @returns takes one packet and gives what became complete. It throws SourceError `unreadable` for what is no RTP or
 * larger than any picture, and `codec_unsupported` for forms that are not read here.
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
    // Nothing is collected for a picture that is thrown away.
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
    // A packet of padding alone keeps a connection alive.
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
