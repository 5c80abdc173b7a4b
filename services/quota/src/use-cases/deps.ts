import type { Knex } from 'knex';
import type { StatusReader } from '@vision/shared/status/status';
import type { Signals } from '../signals.ts';

/** Everything that the ledger works with; each function names the few it needs. */
export interface Deps {
  db: Knex;
  signals: Signals;
  /** How this process stands, for operators. */
  status: StatusReader;
  settings: Settings;
}

/** From the configuration. */
interface Settings {
  /** Reservations closed longer ago than this are folded into their counter. */
  retentionDays: number;
  /** Reservations folded in one transaction. */
  retentionBatch: number;
  /** Age at which a difference counts. */
  auditAgeMs: number;
}
