import type { Bucket } from '../domain/bucket.ts';

const BUCKETS_AT_MOST = 10_000;

/** Keeps what this replica counted of a subject. The newest stands last: what is dropped was charged longest ago. */
export function rememberBucket(own: Map<string, Bucket>, subject: string, bucket: Bucket): void {
  own.delete(subject);
  own.set(subject, bucket);
  for (const oldest of own.keys()) {
    if (own.size <= BUCKETS_AT_MOST) break;
    own.delete(oldest);
  }
}
