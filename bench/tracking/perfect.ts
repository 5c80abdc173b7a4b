import { bufferedIou } from '../../services/inference/src/tracking/box-motion.ts';
import type { Followed } from './peers.ts';
import type { Sequence } from './sequence.ts';

/**
 * What no tracker could do better with these detections when it has to show all of them: whoever a box shows keeps one
 * identity for ever, and each wrong box has one of its own.
 */
export function perfectlyFollowed(sequences: Sequence[]): Followed {
  return sequences.map(({ frames }) => {
    let wrong = 0;
    return frames.map(({ truth, found }) => {
      const free = new Set(truth);
      return found
        .toSorted((a, b) => b.score - a.score)
        .map(({ bbox, score }) => {
          const shown = [...free]
            .map((one) => ({ one, overlap: bufferedIou(one.bbox, bbox, 0) }))
            .filter(({ overlap }) => overlap >= LEAST_IOU)
            .sort((a, b) => b.overlap - a.overlap)[0]?.one;
          if (shown) free.delete(shown);
          else wrong += 1;
          return { id: shown ? shown.id : `wrong ${wrong}`, bbox, score };
        });
    });
  });
}

const LEAST_IOU = 0.5;
