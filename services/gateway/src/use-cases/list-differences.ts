import { listDifferences as question, runAudits as running } from '@vision/contracts/audit';
import type { Difference } from '@vision/contracts/audit';
import { OPERATOR } from '../domain/audit.ts';
import type { Deps } from './deps.ts';

const AUDITORS = ['tasks', 'images', 'results', 'quota'] as const;

export interface Differences {
  items: (Difference & { service: string })[];
  /** Services that did not answer. */
  unreachable: string[];
}

type AskDeps = Pick<Deps, 'owners' | 'logger'>;

/** Differences that the audits of all services found. */
export async function listDifferences(deps: AskDeps, signal: AbortSignal): Promise<Differences> {
  return askAll(deps, { services: AUDITORS, question, signal });
}

/**
 * Runs the audits of all services now. The ledger first: tasks and images query it for the reservations that it makes
 * due.
 */
export async function runAudits(deps: AskDeps, signal: AbortSignal): Promise<Differences> {
  const ledger = await askAll(deps, { services: ['quota'], question: running, signal });
  const others = await askAll(deps, { services: ['tasks', 'images', 'results'], question: running, signal });
  return {
    items: [...ledger.items, ...others.items],
    unreachable: [...ledger.unreachable, ...others.unreachable],
  };
}

interface Asking {
  services: readonly (typeof AUDITORS)[number][];
  question: typeof question;
  signal: AbortSignal;
}

async function askAll({ owners, logger }: AskDeps, { services, question, signal }: Asking): Promise<Differences> {
  const asked = await Promise.all(
    services.map(async (service) => {
      try {
        const { items } = await owners[service].ask(question, { subject: OPERATOR, signal });
        return { items: items.map((item) => ({ service, ...item })), unreachable: [] };
      } catch (error) {
        logger.warn({ err: error, upstream: { name: service } }, 'audit results of a service are missing');
        return { items: [], unreachable: [service] };
      }
    }),
  );
  return {
    items: asked.flatMap(({ items }) => items),
    unreachable: asked.flatMap(({ unreachable }) => unreachable),
  };
}
