import { runRetention as question } from '@vision/contracts/retention';
import { OPERATOR } from '../domain/audit.ts';
import { audited } from './audited.ts';
import type { Deps } from './deps.ts';

const KEEPERS = ['tasks', 'images', 'results', 'quota', 'notify'] as const;

/** Makes every service remove expired data; returns the numbers of each. */
export async function runRetention(
  { db, logger, owners }: Pick<Deps, 'db' | 'logger' | 'owners'>,
  actor: string,
): Promise<Record<string, Record<string, number>>> {
  const act = { actor, action: 'retention.run', target: 'retention', details: {} };
  return audited(db, act, async () => {
    const asked = await Promise.allSettled(
      KEEPERS.map(async (name) => {
        try {
          return [name, await owners[name].ask(question, { subject: OPERATOR })] as const;
        } catch (error) {
          // The reply names one failure only.
          logger.warn({ err: error, callee: name }, 'a service could not remove what has expired');
          throw error;
        }
      }),
    );
    // All services run before a failure is reported: a run may be repeated at any time.
    const failed = asked.find((answer) => answer.status === 'rejected');
    if (failed) throw failed.reason;
    return Object.fromEntries(asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : [])));
  });
}
