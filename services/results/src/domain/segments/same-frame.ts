import type { TrackedObject } from '@vision/contracts/detection';
import type { FrameObjects } from '@vision/contracts/segments/encode-body';
import { toStored } from '../stored-objects.ts';
import type { SegmentFrame } from './segment.ts';

/** Whether two frames, each read from its storage, are shown identically to the last digit. */
export const isSameFrame = (one: SegmentFrame, other: SegmentFrame): boolean =>
  one.seq === other.seq &&
  one.attempt === other.attempt &&
  one.position === other.position &&
  one.frameTimeMs === other.frameTimeMs &&
  one.width === other.width &&
  one.height === other.height &&
  areSameObjects(one.objects, other.objects);

/** Objects that are not text have exactly the fields of the contract; their boxes have one format. */
function areSameObjects(some: FrameObjects, others: FrameObjects): boolean {
  if (typeof some === 'string' || typeof others === 'string') return textOf(some) === textOf(others);
  return (
    some.length === others.length &&
    some.every((object, at) => {
      const other = others[at];
      return other !== undefined && isSameObject(object, other);
    })
  );
}

const textOf = (objects: FrameObjects) => (typeof objects === 'string' ? objects : toStored(objects));

const isSameObject = (one: TrackedObject, other: TrackedObject): boolean =>
  one.label === other.label &&
  one.track_id === other.track_id &&
  one.score === other.score &&
  one.bbox.cx === other.bbox.cx &&
  one.bbox.cy === other.bbox.cy &&
  one.bbox.width === other.bbox.width &&
  one.bbox.height === other.bbox.height;
