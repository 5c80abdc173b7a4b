import type { Redis } from 'ioredis';
import type { SlotKind } from '@vision/contracts/public-operations';

interface Lease {
  id: string;
  /** Redis time in milliseconds. */
  endsAt: number;
}

/** Leases of the slots that requests of a subject hold. */
export async function leasesOf(redis: Redis, kind: SlotKind, subject: string): Promise<Lease[]> {
  const flat = await redis.zrange(`slots:${kind}:${subject}`, 0, -1, 'WITHSCORES');
  return flat.flatMap((id, index) => (index % 2 === 0 ? [{ id, endsAt: Number(flat[index + 1]) }] : []));
}

/** Moves the end of leases to now, as if their time had passed. */
export async function endLeases(redis: Redis, kind: SlotKind, subject: string, leases: Lease[]): Promise<void> {
  for (const { id } of leases) await redis.zadd(`slots:${kind}:${subject}`, 'XX', Date.now(), id);
}
