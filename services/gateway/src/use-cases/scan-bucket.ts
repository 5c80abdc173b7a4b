import { scanObjects } from '@vision/contracts/objects';
import type { ObjectScan } from '@vision/contracts/objects';
import { OPERATOR } from '../domain/audit.ts';
import type { Deps } from './deps.ts';

interface ScanRequest {
  service: 'tasks' | 'images' | 'results';
  after: string;
  limit: number;
}

/** Compares a page of the rows of a service with the bucket. */
export async function scanBucket(
  { owners }: Pick<Deps, 'owners'>,
  { service, ...body }: ScanRequest,
  signal: AbortSignal,
): Promise<ObjectScan> {
  return owners[service].ask(scanObjects, { subject: OPERATOR, body, signal });
}
