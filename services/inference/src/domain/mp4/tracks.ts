import type { Movie, TrackBoxes } from './movie.ts';
import type { Turn } from './turn.ts';

/** A track as a decoder will see it. */
export interface Mp4Track {
  id: number;
  turn: Turn;
  edits: number;
  /** Samples that are played; those that edits repeat count as often. */
  samples: number;
  /** How long it plays. */
  playedMs: number;
}

/** A track without header has no number: ffmpeg shows it, and no decoder is given it. */
export const NO_TRACK = -1;

export const tracksOf = (movie: Movie): Mp4Track[] => movie.tracks.map((track) => playedOf(track, movie));

function playedOf(track: TrackBoxes, movie: Movie): Mp4Track {
  const { id = NO_TRACK, turn, edits } = track;
  const fragments = movie.fragments.get(id);
  const count = track.count + (fragments?.count ?? 0);
  const wholeMs = ((track.ticks + (fragments?.ticks ?? 0)) / track.clock) * 1000;
  const parts = edits.filter(({ isPause }) => !isPause);
  const partMs = parts.map(({ ticks }) => (ticks === 0 ? wholeMs : Math.min(wholeMs, (ticks / movie.clock) * 1000)));
  const playedMs = parts.length === 0 ? wholeMs : partMs.reduce((sum, ms) => sum + ms, 0);
  const repeats = wholeMs > 0 ? Math.max(1, playedMs / wholeMs) : Math.max(1, parts.length);
  return { id, turn, edits: edits.length, samples: Math.ceil(count * repeats), playedMs };
}
