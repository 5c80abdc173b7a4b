import type { Corners } from '../../packages/visionctl/src/calibration/ground-truth.ts';
import type { LabelledImage } from './footage.ts';

/** Of somebody who is cut off by more than this nobody can say what the right box is. */
const LEAST_INSIDE = 0.7;

/** The middle rows of a picture, so that it has the aspect given, with the labels that lie there. */
export function middleOf({ picture, truth }: LabelledImage, aspect: number): LabelledImage {
  const height = Math.round(picture.width / aspect);
  const top = Math.round((picture.height - height) / 2);
  const row = picture.width * 3;
  const inside = (box: Corners): Corners => ({
    ...box,
    top: Math.max(0, box.top - top),
    bottom: Math.min(height, box.bottom - top),
  });
  const shareInside = (box: Corners) => (inside(box).bottom - inside(box).top) / (box.bottom - box.top);
  const cut = truth.objects.map((object) => ({ ...object, box: inside(object.box), share: shareInside(object.box) }));
  return {
    picture: { ...picture, height, data: picture.data.subarray(top * row, (top + height) * row) },
    truth: {
      ...truth,
      height,
      objects: cut.filter(({ share }) => share >= LEAST_INSIDE),
      ignored: cut.filter(({ share }) => share > 0 && share < LEAST_INSIDE),
    },
  };
}
