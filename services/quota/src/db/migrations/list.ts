import type { Migration } from '@vision/shared/db/migrate';
import { ledgerTables } from './0001-ledger-tables.ts';
import { ledgerClock } from './0002-ledger-clock.ts';
import { reserveUnitsFunction } from './0003-reserve-units.ts';
import { closeReservationFunction } from './0004-close-reservation.ts';

export const migrations: Migration[] = [ledgerTables, ledgerClock, reserveUnitsFunction, closeReservationFunction];
