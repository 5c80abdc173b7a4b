/** How many alarms rules of one subject may raise. */
export interface AlarmPace {
  /** Takes one of the alarms that a subject may have now; false when it has had as many as it may. */
  take: (subject: string) => boolean;
}

/** Alarms of a subject within a minute; as many may come at once after a pause. */
export const ALARMS_A_MINUTE = 600;
const MOST_SUBJECTS = 10_000;
const MINUTE_MS = 60_000;

/** Bounds the alarms of each subject for this process. */
export function createAlarmPace(now = () => performance.now()): AlarmPace {
  /** What a subject has left, and when it was counted; least recently used first. */
  const buckets = new Map<string, { left: number; atMs: number }>();
  return {
    take: (subject) => {
      const atMs = now();
      const { left: before, atMs: sinceMs } = buckets.get(subject) ?? { left: ALARMS_A_MINUTE, atMs };
      const left = Math.min(ALARMS_A_MINUTE, before + ((atMs - sinceMs) * ALARMS_A_MINUTE) / MINUTE_MS);
      const isAllowed = left >= 1;
      buckets.delete(subject);
      buckets.set(subject, { left: isAllowed ? left - 1 : left, atMs });
      for (const oldest of buckets.keys()) if (buckets.size > MOST_SUBJECTS) buckets.delete(oldest);
      return isAllowed;
    },
  };
}
