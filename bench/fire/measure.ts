import type { DetectedObject } from '@vision/contracts/detection';
import { detectFireAndSmoke } from '../../services/inference/src/domain/detect-fire-and-smoke.ts';
import { observeFire } from '../../services/inference/src/domain/observe-fire.ts';
import { createFireWatch } from '../../services/inference/src/domain/watch-fire.ts';
import type { Clip } from './clips.ts';
import { HEIGHT, WIDTH } from './canvas.ts';
import type { Truth } from './truth.ts';

export type Label = Truth['label'];

/** A box that a method reported, with the best overlap it has with what really is there. */
interface Judged {
  label: Label;
  score: number;
  overlap: number;
  timeMs: number;
}

/** What a method made of one clip. */
export interface ClipResult {
  clip: Pick<Clip, 'name' | 'burns' | 'seconds'>;
  judged: Judged[];
  /** Frames that show fire or smoke, with the time. */
  shown: { label: Label; timeMs: number }[];
}

type Method = (timeMs: number, image: Parameters<typeof observeFire>[0]) => DetectedObject[];

const labels = ['fire', 'smoke'];
export const methods = {
  picture: (): Method => (_timeMs, image) => detectFireAndSmoke({ image, minScore: 0, labels }),
  video: (): Method => {
    const watch = createFireWatch();
    return (timeMs, image) => watch.update(timeMs, observeFire(image), labels);
  },
};
export type MethodName = keyof typeof methods;

/** Shows a clip to every method at once, so that each frame is drawn once. */
export async function measureClip(clip: Clip): Promise<Record<MethodName, ClipResult>> {
  const { name, burns, seconds } = clip;
  const start = (): ClipResult => ({ clip: { name, burns, seconds }, judged: [], shown: [] });
  const results = { picture: start(), video: start() };
  const running = { picture: methods.picture(), video: methods.video() };
  for await (const { timeMs, image, truth } of clip.frames()) {
    for (const method of ['picture', 'video'] as const) {
      const found = running[method](timeMs, image);
      results[method].shown.push(...truth.map(({ label }) => ({ label, timeMs })));
      results[method].judged.push(...judge(found, truth, timeMs));
    }
  }
  return results;
}

/** Best boxes first, each true box once; what is left has the overlap 0. */
function judge(found: readonly DetectedObject[], truth: readonly Truth[], timeMs: number): Judged[] {
  const open = new Set(truth);
  return found
    .toSorted((a, b) => b.score - a.score)
    .map((object) => {
      const candidates = [...open].filter(({ label }) => label === object.label);
      const best = candidates.toSorted((a, b) => overlapOf(object, b) - overlapOf(object, a)).at(0);
      const overlap = best ? overlapOf(object, best) : 0;
      if (best && overlap >= 0.5) open.delete(best);
      return { label: object.label as Label, score: object.score, overlap, timeMs };
    });
}

/** Intersection over union. */
function overlapOf({ bbox }: DetectedObject, truth: Truth): number {
  const box = {
    left: (bbox.cx - bbox.width / 2) * WIDTH,
    right: (bbox.cx + bbox.width / 2) * WIDTH,
    top: (bbox.cy - bbox.height / 2) * HEIGHT,
    bottom: (bbox.cy + bbox.height / 2) * HEIGHT,
  };
  const wide = Math.min(box.right, truth.right) - Math.max(box.left, truth.left);
  const high = Math.min(box.bottom, truth.bottom) - Math.max(box.top, truth.top);
  if (wide <= 0 || high <= 0) return 0;
  const both = wide * high;
  const areas =
    (box.right - box.left) * (box.bottom - box.top) + (truth.right - truth.left) * (truth.bottom - truth.top);
  return both / (areas - both);
}
