import { auditMigration } from '@vision/shared/audit/differences';
import { clockMigration } from '@vision/shared/db/clock';
import type { Migration } from '@vision/shared/db/migrate';
import { positionEpochsMigration, positionsMigration } from '@vision/kafka/positions';
import { ledgerTables } from './0001-ledger-tables.ts';
import { ledgerClock } from './0002-ledger-clock.ts';
import { reserveUnitsFunction } from './0003-reserve-units.ts';
import { closeReservationFunction } from './0004-close-reservation.ts';
import { sharedLedgerClock } from './0005-shared-clock.ts';
import { ledgerAudit, ledgerAuditIndexes } from './0006-ledger-audit.ts';
import { lighterLedgerAudit } from './0008-lighter-ledger-audit.ts';

export const migrations: Migration[] = [
  clockMigration,
  ledgerTables,
  ledgerClock,
  reserveUnitsFunction,
  closeReservationFunction,
  sharedLedgerClock,
  positionsMigration,
  auditMigration,
  ledgerAudit,
  ledgerAuditIndexes,
  positionEpochsMigration,
  lighterLedgerAudit,
];
