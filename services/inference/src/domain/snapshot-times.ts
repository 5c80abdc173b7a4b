/** A frame that is older is no newest frame. */
export const FRESH_MS = 2_000;
/** The decoder gives one frame a second; one that was taken over may give more. */
export const LEAST_PAUSE_MS = 800;
/** A stored frame is removed so long after the last one of its job. */
export const REMOVED_AFTER_MS = 60_000;
