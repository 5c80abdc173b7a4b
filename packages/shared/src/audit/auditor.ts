import type { Knex } from 'knex';
import { createPoller } from '../async/poller.ts';
import type { Poller } from '../async/poller.ts';
import type { Logger } from '../logger.ts';
import { observe } from '../telemetry/instruments.ts';
import { auditMetrics } from '../telemetry/shared-metrics.ts';
import { asOutage } from '../unavailable.ts';
import { claimUntold, dueDifferences, settleDifferences, sumUpDifferences } from './differences.ts';
import type { Found } from './differences.ts';

/** Compares two things that must agree, by what changed since the last look. */
export interface Audit {
  /** snake_case; a label of the gauge. */
  kind: string;
  /**
   * Looks at a page of what changed and notes the differences in it (`noteDifferences`).
   * @returns whether there is more of it now
   */
  find: () => Promise<boolean>;
  /** Which of these are differences still. */
  confirm: (ids: string[]) => Promise<Found[]>;
}

export interface AuditorOptions {
  db: Knex;
  logger: Logger;
  audits: Audit[];
  /** As `auditConstants` say. A difference counts when it is that old: the other side may be on its way. */
  config: { AUDIT_INTERVAL_MS: number; AUDIT_AGE_MS: number };
}

/**
 * Runs the audits of a service again and again; any number of replicas may. What they find is kept in a table, looked
 * at until it is gone, shown by a gauge, and told by one error line when it has become old enough.
 */
export function createAuditor({ db, logger, audits, config }: AuditorOptions): Poller {
  const { AUDIT_INTERVAL_MS: intervalMs, AUDIT_AGE_MS: ageMs } = config;
  let counts = new Map<string, number>();
  // Others may have found something before this process began.
  let known = new Set(audits.map(({ kind }) => kind));
  observe(auditMetrics.differences, (tell) => {
    for (const { kind } of audits) tell(counts.get(kind) ?? 0, { kind });
  });
  return createPoller({
    name: 'audit',
    intervalMs,
    logger,
    maxBackoffMs: 60_000,
    run: async () => {
      // One that fails, because a neighbour is away, keeps no other from its turn.
      const rounds = await Promise.all(
        audits.map((audit) => runAudit(db, audit, known.has(audit.kind)).catch((error: unknown) => ({ error, audit }))),
      );
      const failed = rounds.filter((round) => typeof round === 'object');
      for (const { error, audit } of failed) reportFailure(logger, audit, error);
      const sums = await sumUpDifferences(db, ageMs);
      if (sums.some(({ isUntold }) => isUntold))
        for (const { kind, ...difference } of await claimUntold(db, ageMs))
          logger.error({ kind, ...difference, ...taskOf(difference) }, 'an audit found a difference');
      known = new Set(sums.map(({ kind }) => kind));
      counts = new Map(sums.map(({ kind, counting }) => [kind, counting]));
      if (failed[0]) throw failed[0].error;
      return rounds.filter((round) => round === true).length;
    },
  });
}

/** Each audit by its kind: the round itself can reject with one error only. */
function reportFailure(logger: Logger, { kind }: Audit, error: unknown): void {
  const facts = { err: error, kind };
  if (asOutage(error)) logger.warn(facts, 'an outage interrupted an audit');
  else logger.error(facts, 'an audit failed');
}

const PAGE = 200;

async function runAudit(db: Knex, { kind, find, confirm }: Audit, hasKnown: boolean): Promise<boolean> {
  const due = hasKnown ? await dueDifferences(db, kind, PAGE) : [];
  if (due.length > 0) await settleDifferences(db, kind, due, await confirm(due));
  return find();
}

function taskOf({ details }: Found): { task_id?: unknown } {
  return details['task_id'] === undefined ? {} : { task_id: details['task_id'] };
}
