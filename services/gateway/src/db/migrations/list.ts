import type { Migration } from '@vision/shared/db/migrate';
import { gatewayTables } from './0001-gateway-tables.ts';

export const migrations: Migration[] = [gatewayTables];
