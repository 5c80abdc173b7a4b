import type { Knex } from 'knex';
import type { Owners } from '../clients/owners.ts';
import type { KeyCache } from '../db/key-cache.ts';
import type { Peppers } from '../domain/peppers.ts';
import type { Signals } from '../signals.ts';
import type { SettingsWatch } from './watch-settings.ts';

/** What the acts of an operator need; each takes its part. */
export interface OperatorDeps {
  db: Knex;
  peppers: Peppers;
  cache: KeyCache;
  watch: SettingsWatch;
  owners: Owners;
  signals: Signals;
}

/** Subject of service tokens for questions that are asked for no subject. */
export const OPERATOR = 'operator';
