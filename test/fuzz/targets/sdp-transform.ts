import assert from 'node:assert/strict';
import { parse } from 'sdp-transform';
import type { Description, Media } from 'sdp-transform';
import { SourceError } from '@vision/streams/source-error';
import { readDescription } from '../../../services/inference/src/inputs/rtsp/sdp.ts';
import type { VideoDescription } from '../../../services/inference/src/inputs/rtsp/sdp.ts';
import { attempt } from '../properties.ts';
import type { FuzzTarget } from '../target.ts';

const NAMES = { h264: 'H264', h265: 'H265', mjpeg: 'JPEG' } as const;

/** The other parser does not know it, and we have no use for it. */
const NUMBER_OF_PORTS = /^(m=\w+ \d+)\/\d+/gm;

/**
 * Session descriptions in the eyes of another parser (sdp-transform): the track that is asked for is a video track with
 * this payload type, codec, clock, control and parameter sets there too.
 */
export const target: FuzzTarget = {
  maxBytes: 8192,
  check: (input) => {
    const outcome = attempt(() => readDescription(input), { by: SourceError });
    if ('refused' in outcome) return;
    const text = input.toString('latin1');
    if (isReadOtherwise(text)) return;
    const description = parse(text.replaceAll(NUMBER_OF_PORTS, '$1'));
    assert.equal(outcome.read.streamControl ?? '', textOf(description.control));
    assert.deepEqual(factsOf(outcome.read), chosenOf(description));
  },
};

/** A video track whose line is no port, protocol and list of payload types. */
const NO_TRACK = /^m=video (?!\d{1,5}(?:\/\d{1,5})? \S+(?: \d{1,3})+ *\r?$)/m;

/**
 * Differences that are meant: of two names of a track we take the first, a no-break space ends nothing, a mapping with
 * something behind it is none, and neither is a track whose port or payload types are no numbers of such.
 */
function isReadOtherwise(text: string): boolean {
  const isNamedTwice = text.split(/^m=/m).some((part) => part.split(/^a=control:/m).length > 2);
  if (NO_TRACK.test(text)) return true;
  return text.includes('\xa0') || isNamedTwice || /^a=rtpmap:(?!\d+ [\w.-]+\/\d+(?:\/\d+)? *\r?$)/m.test(text);
}

interface Facts {
  payloadType: number;
  codec: string;
  clockRate: number;
  control: string;
  sets: string[];
}

function factsOf(read: VideoDescription): Facts {
  const { payloadType, codec, clockRate, trackControl, parameterSets } = read;
  const sets = parameterSets.map((set) => set.toString('base64'));
  return { payloadType, codec: NAMES[codec], clockRate, control: trackControl ?? '', sets };
}

/** The first payload type of the first video track that is one of ours. */
function chosenOf({ media }: Description): Facts | undefined {
  const videos = media.filter(({ type, protocol = '' }) => type === 'video' && /^RTP\/AVPF?$/.test(protocol));
  return videos.flatMap(usableOf)[0];
}

function usableOf(media: Media): Facts[] {
  const types = textOf(media.payloads).split(' ').map(Number);
  return types.flatMap((payloadType) => {
    if (payloadType > MAX_PAYLOAD_TYPE) return [];
    const map = media.rtp.find(({ payload }) => payload === payloadType);
    const [codec, rate] = map ? [textOf(map.codec).toUpperCase(), Number(map.rate)] : staticOf(payloadType);
    const parameters = parametersOf(textOf(media.fmtp.find(({ payload }) => payload === payloadType)?.config));
    if (!Object.values<string>(NAMES).includes(codec) || !isClock(rate) || isInterleaved(parameters)) return [];
    const names = ['sprop-parameter-sets', 'sprop-vps', 'sprop-sps', 'sprop-pps'];
    const sets = names.flatMap((name) => (parameters.get(name) ?? '').split(',')).filter(isBase64);
    const again = sets.map((set) => Buffer.from(set, 'base64').toString('base64'));
    return [{ payloadType, codec, clockRate: rate, control: textOf(media.control), sets: again }];
  });
}

/** A packet has seven bits for it. */
const MAX_PAYLOAD_TYPE = 127;

const staticOf = (payloadType: number): [string, number] => (payloadType === 26 ? ['JPEG', 90_000] : ['', 0]);

/** Clocks of four to seven digits are real. */
const isClock = (rate: number) => rate >= 1000 && rate < 10_000_000;

const isBase64 = (text: string) => /^[A-Za-z0-9+/]+={0,2}$/.test(text);

/** A name without a value is none. */
function parametersOf(config: string): Map<string, string> {
  const pairs = config.split(';').filter((pair) => pair.includes('='));
  return new Map(pairs.map((pair) => [nameOf(pair), pair.split('=').slice(1).join('=').trim()]));
}

const nameOf = (pair: string) => pair.split('=', 1)[0]?.trim().toLowerCase() ?? '';

function isInterleaved(parameters: ReadonlyMap<string, string>): boolean {
  return parameters.get('packetization-mode') === '2' || Number(parameters.get('sprop-max-don-diff') ?? 0) !== 0;
}

/** The other parser makes numbers of digits, and leaves out what is missing. */
const textOf = (value: string | number | undefined) => String(value ?? '').trim();
