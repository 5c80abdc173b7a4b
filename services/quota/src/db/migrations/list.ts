import type { Migration } from '@vision/shared/db/migrate';
import { ledgerTables } from './0001-ledger-tables.ts';
import { ledgerFunctions } from './0002-ledger-functions.ts';

export const migrations: Migration[] = [ledgerTables, ledgerFunctions];
