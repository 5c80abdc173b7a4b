/** Subjects that one replica counts itself; the one that was used least recently is dropped. */
export const OWN_BUCKETS = 10_000;

/** What is left of something that refills steadily, below zero after more was taken than there was, and when. */
export interface Bucket {
  left: number;
  atMs: number;
}

export interface Refill {
  perSecond: number;
  most: number;
}

/** A bucket as it is now; an unknown one is full. */
export function refilled(bucket: Bucket | undefined, nowMs: number, { perSecond, most }: Refill): Bucket {
  if (!bucket) return { left: most, atMs: nowMs };
  const since = Math.max(0, nowMs - bucket.atMs);
  return { left: Math.min(most, bucket.left + (since * perSecond) / 1000), atMs: Math.max(nowMs, bucket.atMs) };
}
