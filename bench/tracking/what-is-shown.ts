import { bufferedIou } from '../../services/inference/src/tracking/box-motion.ts';
import type { Followed } from './peers.ts';
import type { Sequence } from './sequence.ts';

/**
 * What a tracker shows, and the boxes it keeps back with an identity of their own each. Others show an object from its
 * second or third frame on only; here every object of a frame has a `track_id`, so this is what a caller would get.
 */
export function withEveryBox(sequences: Sequence[], followed: Followed): Followed {
  let lastId = 0;
  const nextId = () => {
    lastId += 1;
    return `kept back ${lastId}`;
  };
  return sequences.map(({ frames }, index) =>
    frames.map(({ found }, frame) => {
      const shown = followed[index]?.[frame] ?? [];
      const keptBack = found.filter(({ bbox }) => !shown.some((box) => bufferedIou(box.bbox, bbox, 0) > SAME_BOX));
      return [...shown, ...keptBack.map(({ bbox, score }) => ({ id: nextId(), bbox, score }))];
    }),
  );
}

const SAME_BOX = 0.99;

/**
 * What would be shown of an object if it were held back as ByteTrack does: until its second box, and until one of its
 * boxes is sure enough to begin a track there.
 */
export function onceConfirmed(followed: Followed): Followed {
  return followed.map((frames) => {
    const seen = new Map<number | string, { boxes: number; best: number }>();
    return frames.map((boxes) =>
      boxes.filter(({ id, score }) => {
        const before = seen.get(id) ?? { boxes: 0, best: 0 };
        const now = { boxes: before.boxes + 1, best: Math.max(before.best, score) };
        seen.set(id, now);
        return now.boxes >= CONFIRMED_FROM && now.best >= ACTIVATED_FROM;
      }),
    );
  });
}

/** `minimum_consecutive_frames` and `track_activation_threshold` of the package. */
const CONFIRMED_FROM = 2;
const ACTIVATED_FROM = 0.7;
