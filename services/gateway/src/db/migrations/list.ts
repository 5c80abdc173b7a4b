import type { Migration } from '@vision/shared/db/migrate';
import { gatewayTables } from './0001-gateway-tables.ts';
import { scopesOfKeys } from './0002-key-scopes.ts';
import { subjectSettings } from './0003-subject-settings.ts';

export const migrations: Migration[] = [gatewayTables, scopesOfKeys, subjectSettings];
