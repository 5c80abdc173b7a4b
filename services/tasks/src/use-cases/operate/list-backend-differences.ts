import type { Difference } from '@vision/contracts/audit';
import { asAppError } from '@vision/contracts/errors';
import type { Deps } from '../deps.ts';

/** Audit differences of the backend; a backend that does not report is shown as such and hides no other difference. */
export async function listBackendDifferences({ inference }: Pick<Deps, 'inference'>): Promise<Difference[]> {
  try {
    return await inference.readDifferences();
  } catch (error) {
    const known = asAppError(error);
    if (known?.kind !== 'unavailable') throw error;
    const since = new Date().toISOString();
    return [{ kind: 'backend_not_asked', id: 'inference', since, details: { reason: known.reason } }];
  }
}
