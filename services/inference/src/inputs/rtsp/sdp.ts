import { SourceError } from '@vision/streams/source-error';
import { MAX_SETS } from '../video/nal-units.ts';
import type { NalCodec } from '../video/nal-units.ts';

/** The one video track of a stream that is asked for. */
export interface VideoDescription {
  codec: NalCodec | 'mjpeg';
  payloadType: number;
  /** Ticks of RTP timestamps a second. */
  clockRate: number;
  /**
   * What the server calls the track and the whole stream: absolute, relative, `*` or left out. Never a way
   * to another host.
   */
  trackControl: string | undefined;
  streamControl: string | undefined;
  /** SPS, PPS and VPS as the description tells them; often none. */
  parameterSets: Buffer[];
}

interface Media {
  line: string;
  attributes: string[];
}

const MAX_LINES = 1000;
const CODECS: Partial<Record<string, VideoDescription['codec']>> = { H264: 'h264', H265: 'h265', JPEG: 'mjpeg' };
const STATIC_JPEG = '26';
/** Packets have seven bits for it (RFC 3550, section 5.1): no packet would be one of a larger type. */
const MAX_PAYLOAD_TYPE = 127;

/**
 * The first video track of H.264, H.265 or motion JPEG in a session description (RFC 8866). Addresses in it (`c=`,
 * `o=`) are not read: packets come over the one connection there is.
 *
 * @throws SourceError `unreadable` for what is no description, `no_video_track`, `codec_unsupported`
 */
export function readDescription(body: Buffer): VideoDescription {
  // Names of sessions are text in any encoding; what is used of a description is ASCII.
  const found = body.toString('latin1').split(/\r?\n/, MAX_LINES + 1);
  if (found.length > MAX_LINES) throw new SourceError('unreadable');
  const lines = found.filter((line) => line !== '');
  const isPlain = lines.every((line) => /^[a-z]=[\x20-\x7e\x80-\xff]*$/.test(line));
  if (lines[0] !== 'v=0' || !isPlain) throw new SourceError('unreadable');
  const firstMedia = lines.findIndex((line) => line.startsWith('m='));
  const session = attributesOf(firstMedia < 0 ? lines : lines.slice(0, firstMedia));
  const videos = mediaOf(lines).filter(({ line }) => line.startsWith('m=video '));
  if (videos.length === 0) throw new SourceError('no_video_track');
  for (const media of videos) {
    const described = describe(media);
    if (described) return { ...described, streamControl: valueOf(session, 'control') };
  }
  throw new SourceError('codec_unsupported');
}

function mediaOf(lines: readonly string[]): Media[] {
  const all: Media[] = [];
  for (const line of lines) {
    if (line.startsWith('m=')) all.push({ line, attributes: [] });
    else all.at(-1)?.attributes.push(...attributesOf([line]));
  }
  return all;
}

function describe({ line, attributes }: Media): Omit<VideoDescription, 'streamControl'> | undefined {
  const [, formats = ''] = /^m=video \d{1,5}(?:\/\d{1,5})? RTP\/AVPF?((?: \d{1,3}){1,128}) *$/.exec(line) ?? [];
  for (const format of formats.trim().split(' ')) {
    const mapping = valueOf(attributes, `rtpmap:${format}`, ' ') ?? (format === STATIC_JPEG ? 'JPEG/90000' : '');
    const [, name = '', rate = ''] = /^([\w.-]{1,32})\/([1-9]\d{3,6})(?:\/\d+)? *$/.exec(mapping) ?? [];
    const codec = CODECS[name.toUpperCase()];
    if (codec === undefined || Number(format) > MAX_PAYLOAD_TYPE) continue;
    const parameters = parametersOf(valueOf(attributes, `fmtp:${format}`, ' ') ?? '');
    if (isInterleaved(parameters)) continue;
    return {
      codec,
      payloadType: Number(format),
      clockRate: Number(rate),
      trackControl: valueOf(attributes, 'control'),
      parameterSets: parameterSetsOf(parameters),
    };
  }
  return undefined;
}

/** Units out of decoding order, which no camera sends: they would have to be sorted by numbers of their own. */
function isInterleaved(parameters: ReadonlyMap<string, string>): boolean {
  return parameters.get('packetization-mode') === '2' || Number(parameters.get('sprop-max-don-diff') ?? 0) !== 0;
}

function parameterSetsOf(parameters: ReadonlyMap<string, string>): Buffer[] {
  const names = ['sprop-parameter-sets', 'sprop-vps', 'sprop-sps', 'sprop-pps'];
  const texts = names.flatMap((name) => parameters.get(name)?.split(',', MAX_SETS + 1) ?? []);
  if (texts.length > MAX_SETS) throw new SourceError('unreadable');
  // What is no base64 is left out: the stream tells its sets again.
  return texts.filter((text) => /^[A-Za-z0-9+/]+={0,2}$/.test(text)).map((text) => Buffer.from(text, 'base64'));
}

function parametersOf(text: string): Map<string, string> {
  const pairs = text.split(';').map((pair): [string, string] => {
    const equals = pair.indexOf('=');
    return [pair.slice(0, Math.max(0, equals)).trim().toLowerCase(), pair.slice(equals + 1).trim()];
  });
  return new Map(pairs);
}

function attributesOf(lines: readonly string[]): string[] {
  return lines.filter((line) => line.startsWith('a=')).map((line) => line.slice(2));
}

function valueOf(attributes: readonly string[], name: string, separator = ':'): string | undefined {
  const start = `${name}${separator}`;
  return attributes
    .find((attribute) => attribute.startsWith(start))
    ?.slice(start.length)
    .trim();
}
