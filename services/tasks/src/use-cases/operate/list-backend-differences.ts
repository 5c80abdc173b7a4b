import type { Difference } from '@vision/contracts/audit';
import { asAppError } from '@vision/contracts/errors';
import type { Deps } from '../deps.ts';

/** What the audits of the backend found; a backend that does not tell is shown as such and hides nothing else. */
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
