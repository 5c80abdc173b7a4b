import { listDifferences as question } from '@vision/shared/contracts/audit';
import type { Difference } from '@vision/shared/contracts/audit';
import { OPERATOR } from '../domain/audit.ts';
import type { Deps } from './deps.ts';

const AUDITORS = ['tasks', 'images', 'results', 'quota'] as const;

export interface Differences {
  items: (Difference & { service: string })[];
  /** Services that did not tell. */
  unreachable: string[];
}

/** What the audits of all services found to differ. */
export async function listDifferences(
  { owners, logger }: Pick<Deps, 'owners' | 'logger'>,
  signal: AbortSignal,
): Promise<Differences> {
  const asked = await Promise.all(
    AUDITORS.map(async (service) => {
      try {
        const { items } = await owners[service].ask(question, { subject: OPERATOR, signal });
        return { items: items.map((item) => ({ service, ...item })), unreachable: [] };
      } catch (error) {
        logger.warn({ err: error, upstream: { name: service } }, 'a service did not tell what its audits found');
        return { items: [], unreachable: [service] };
      }
    }),
  );
  return {
    items: asked.flatMap(({ items }) => items),
    unreachable: asked.flatMap(({ unreachable }) => unreachable),
  };
}
