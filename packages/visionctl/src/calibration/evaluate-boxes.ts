import type { Corners, GroundTruth } from './ground-truth.ts';

/** A box that a detector found, in pixels of the image. */
export interface FoundBox {
  label: string;
  score: number;
  box: Corners;
}

/** A found box, and whether it is right. */
export interface EvaluatedBox {
  label: string;
  score: number;
  isRight: boolean;
}

/** Overlap from which a box counts as right. */
const RIGHT_IOU = 0.5;

/**
 * Says of each box whether it is right, as PASCAL VOC and COCO do: the best box first takes the object of its label
 * that it overlaps most, by an IoU of 0.5 or more; an object is taken once. A box that lies in an ignored place and
 * takes no object is left out of the answer.
 */
export function evaluateBoxes(found: readonly FoundBox[], truth: GroundTruth): EvaluatedBox[] {
  const open = new Set(truth.objects);
  return found
    .toSorted((a, b) => b.score - a.score)
    .flatMap(({ label, score, box }): EvaluatedBox[] => {
      const candidates = [...open].filter((object) => object.label === label);
      const best = candidates
        .map((object) => ({ object, overlap: iouOf(object.box, box) }))
        .toSorted((a, b) => b.overlap - a.overlap)[0];
      if (best && best.overlap >= RIGHT_IOU) {
        open.delete(best.object);
        return [{ label, score, isRight: true }];
      }
      const isIgnored = truth.ignored.some(
        (place) => place.label === label && shareInside(box, place.box) >= RIGHT_IOU,
      );
      return isIgnored ? [] : [{ label, score, isRight: false }];
    });
}

/** Intersection over union, 0..1. */
function iouOf(a: Corners, b: Corners): number {
  const shared = sharedArea(a, b);
  return shared === 0 ? 0 : shared / (areaOf(a) + areaOf(b) - shared);
}

const shareInside = (box: Corners, place: Corners) => sharedArea(box, place) / areaOf(box);
const areaOf = ({ left, top, right, bottom }: Corners) => (right - left) * (bottom - top);

function sharedArea(a: Corners, b: Corners): number {
  const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  return width > 0 && height > 0 ? width * height : 0;
}
