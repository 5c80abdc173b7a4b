import { Mp4RefusedError } from './box.ts';
import { readEdits } from './edits.ts';
import type { Edit } from './edits.ts';
import { validateSampleDescriptions } from './sample-descriptions.ts';
import { countOfSizes, samplesOfRun, ticksOfSamples, validateTable } from './tables.ts';
import type { Samples } from './tables.ts';
import { combine, readTurn, UPRIGHT } from './turn.ts';
import type { Turn } from './turn.ts';

/** A track as its boxes describe it. */
export interface TrackBoxes extends Samples {
  id: number | undefined;
  turn: Turn;
  edits: Edit[];
  /** Units of its clock in a second. */
  clock: number;
}

/** What the boxes of a file said so far. */
export interface Movie {
  turn: Turn | undefined;
  /** Units of the movie's clock in a second. */
  clock: number;
  tracks: TrackBoxes[];
  /** Of fragments, by the number of the track. */
  fragments: Map<number, Samples>;
  /** Duration of a sample of a fragment that states none, by the number of the track. */
  defaultTicks: Map<number, number>;
  fragment: { track: number; defaultTicks: number } | undefined;
}

export const newMovie = (): Movie => ({
  turn: undefined,
  clock: 1,
  tracks: [],
  fragments: new Map(),
  defaultTicks: new Map(),
  fragment: undefined,
});

const MAX_TRACKS = 32;

type Reader = (movie: Movie, data: Buffer) => void;

/** What is read of a box that ffmpeg interprets, besides the boxes in it. @throws Mp4RefusedError */
export function readBox(movie: Movie, type: string, data: Buffer): void {
  validateTable(type, data);
  READERS[type]?.(movie, data);
}

const trackOf = ({ tracks }: Movie): TrackBoxes => {
  const track = tracks.at(-1);
  if (!track) throw new Mp4RefusedError("a box of a track outside of 'trak'");
  return track;
};

const isLong = (data: Buffer) => data[0] === 1;

/** A whole number of 32 bits. @throws Mp4RefusedError when it is not there */
const wordAt = (type: string, data: Buffer, at: number): number => {
  if (data.length < at + 4) throw new Mp4RefusedError(`'${type}' is incomplete`);
  return data.readUInt32BE(at);
};

const READERS: Record<string, Reader> = {
  mvhd: (movie, data) => {
    movie.clock = wordAt('mvhd', data, isLong(data) ? 20 : 12) || 1;
    movie.turn = readTurn(data, isLong(data) ? 48 : 36, 'mvhd');
  },
  trak: ({ tracks }) => {
    if (tracks.length === MAX_TRACKS) throw new Mp4RefusedError("more 'trak' than a video needs");
    tracks.push({ id: undefined, turn: UPRIGHT, edits: [], clock: 1, count: 0, ticks: 0 });
  },
  tkhd: (movie, data) => {
    // ffmpeg multiplies with what it has read by then.
    if (!movie.turn) throw new Mp4RefusedError("'trak' before 'mvhd'");
    const turn = readTurn(data, isLong(data) ? 52 : 40, 'tkhd');
    const id = wordAt('tkhd', data, isLong(data) ? 20 : 12);
    if (movie.tracks.some((track) => track.id === id)) throw new Mp4RefusedError("two 'tkhd' of one track");
    Object.assign(trackOf(movie), { id, turn: combine(turn, movie.turn) });
  },
  elst: (movie, data) => {
    trackOf(movie).edits = readEdits(data);
  },
  mdhd: (movie, data) => {
    trackOf(movie).clock = wordAt('mdhd', data, isLong(data) ? 20 : 12) || 1;
  },
  stsd: (_movie, data) => validateSampleDescriptions(data),
  stts: (movie, data) => {
    trackOf(movie).ticks = ticksOfSamples(data);
  },
  stsz: (movie, data) => {
    trackOf(movie).count = countOfSizes('stsz', data);
  },
  stz2: (movie, data) => {
    trackOf(movie).count = countOfSizes('stz2', data);
  },
  trex: ({ defaultTicks }, data) => void defaultTicks.set(wordAt('trex', data, 4), wordAt('trex', data, 12)),
  traf: (movie) => {
    movie.fragment = undefined;
  },
  tfhd: (movie, data) => {
    const track = wordAt('tfhd', data, 4);
    const flags = data.readUIntBE(1, 3);
    const before = 8 + ((flags & 1) === 0 ? 0 : 8) + ((flags & 2) === 0 ? 0 : 4);
    const own = (flags & 8) === 0 ? undefined : wordAt('tfhd', data, before);
    movie.fragment = { track, defaultTicks: own ?? movie.defaultTicks.get(track) ?? 0 };
  },
  trun: (movie, data) => {
    if (!movie.fragment) throw new Mp4RefusedError("'trun' before 'tfhd'");
    const { track, defaultTicks } = movie.fragment;
    const { count, ticks } = samplesOfRun(data, defaultTicks);
    const before = movie.fragments.get(track) ?? { count: 0, ticks: 0 };
    movie.fragments.set(track, { count: before.count + count, ticks: before.ticks + ticks });
  },
};
