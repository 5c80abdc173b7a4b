import type { Knex } from 'knex';
import type { StatusReader } from '@vision/shared/status/status';
import type { Signals } from '../signals.ts';

/** Dependencies of the ledger; each function names those that it needs. */
export interface Deps {
  db: Knex;
  signals: Signals;
  /** Status of this process, for operators. */
  status: StatusReader;
  settings: Settings;
}

/** From the configuration. */
interface Settings {
  /** Reservations closed longer ago than this are folded into their counter. */
  retentionDays: number;
  /** Reservations folded in one transaction. */
  retentionBatch: number;
  /** Minimum age of a difference before it counts. */
  auditAgeMs: number;
}
