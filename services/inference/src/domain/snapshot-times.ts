/** A frame that is older is no newest frame. */
export const FRESH_MS = 2_000;
/** A stored frame is removed so long after the last one of its job. */
export const REMOVED_AFTER_MS = 60_000;
