/** Maximum number of subjects that one replica counts; the least recently used one is evicted. */
export const OWN_BUCKETS = 10_000;

/** Tokens of a bucket, negative if overdrawn, and the time of the count. */
export interface Bucket {
  left: number;
  atMs: number;
}

export interface Refill {
  perSecond: number;
  most: number;
}

/** The bucket at this time; an unknown one is full. */
export function refilled(bucket: Bucket | undefined, nowMs: number, { perSecond, most }: Refill): Bucket {
  if (!bucket) return { left: most, atMs: nowMs };
  const since = Math.max(0, nowMs - bucket.atMs);
  return { left: Math.min(most, bucket.left + (since * perSecond) / 1000), atMs: Math.max(nowMs, bucket.atMs) };
}
