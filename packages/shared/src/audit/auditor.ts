import type { Knex } from 'knex';
import { createPoller } from '../async/poller.ts';
import type { Poller } from '../async/poller.ts';
import type { Logger } from '../logger.ts';
import { observe } from '../telemetry/instruments.ts';
import { auditMetrics } from '../telemetry/shared-metrics.ts';
import { asOutage } from '../unavailable.ts';
import { claimUntold, dueDifferences, settleDifferences, sumUpDifferences } from './differences.ts';
import type { Found } from './differences.ts';

/** Compares two states that must agree, by the changes since the last run. */
export interface Audit {
  /** snake_case; a label of the gauge. */
  kind: string;
  /**
   * Compares a page of changes and stores the differences in it (`noteDifferences`).
   * @returns whether there are more changes now
   */
  find: () => Promise<boolean>;
  /** Returns those that are still differences. */
  confirm: (ids: string[]) => Promise<Found[]>;
}

export interface AuditorOptions {
  db: Knex;
  logger: Logger;
  audits: Audit[];
  /** See `auditConstants`. A difference counts from that age on: the other side may be in flight. */
  config: { AUDIT_INTERVAL_MS: number; AUDIT_AGE_MS: number };
}

/**
 * Runs the audits of a service periodically, on any number of replicas. Stores differences in a table, checks them
 * until they are gone, shows them in a gauge, and logs one error line when they are old enough.
 */
export function createAuditor({ db, logger, audits, config }: AuditorOptions): Poller {
  const { AUDIT_INTERVAL_MS: intervalMs, AUDIT_AGE_MS: ageMs } = config;
  let counts = new Map<string, number>();
  // Other processes may have found differences before this one started.
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
      // An audit that fails because another service is unavailable does not prevent the others.
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

/** Logs the failure of each audit: the whole run can reject with one error only. */
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
