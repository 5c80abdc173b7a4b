import type { BoundingBox, TrackedObject } from '@vision/contracts/detection';
import { contains } from '@vision/contracts/region';
import type { Anchor, Region } from '@vision/contracts/region';

/** The objects that a reader selects, in addition to the score; an absent field does not restrict. */
export interface ObjectFilter {
  labels?: ReadonlySet<string> | undefined;
  trackId?: string | undefined;
  area?: { region: Region; anchor: Anchor } | undefined;
}

/** Whether the filter selects an object. */
export function matchesObject({ labels, trackId, area }: ObjectFilter, object: TrackedObject): boolean {
  if (labels && !labels.has(object.label)) return false;
  if (trackId !== undefined && object.track_id !== trackId) return false;
  return area === undefined || isInArea(area, object.bbox);
}

/** Whether the anchor of a box lies in the region. */
export function isInArea(
  { region, anchor }: { region: Region; anchor: Anchor },
  { cx, cy, height }: Pick<BoundingBox, 'cx' | 'cy' | 'height'>,
): boolean {
  return contains(region, cx, anchor === 'center' ? cy : cy + height / 2);
}

/**
 * Whether a segment can hold a selected object, by the labels in its index, in their JSON form. A segment without
 * listed labels may hold any.
 */
export function mayHold({ labels }: ObjectFilter, listed: readonly string[] | null): boolean {
  if (!labels || !listed) return true;
  return listed.some((label) => labels.has(JSON.parse(`"${label}"`) as string));
}

/** Whether the filter excludes any object. */
export const isFiltering = ({ labels, trackId, area }: ObjectFilter): boolean =>
  labels !== undefined || trackId !== undefined || area !== undefined;
