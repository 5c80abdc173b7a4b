import type { Knex } from 'knex';
import type { SnapshotMode } from '@vision/contracts/create-query';
import type { OpenStreams } from '@vision/shared/http/open-streams';
import type { Logger } from '@vision/shared/logger';
import type { Scenes } from '@vision/shared/scenes';
import type { SecretBox } from '@vision/shared/secret-box';
import type { StatusReader } from '@vision/shared/status/status';
import type { FailureThrottle } from '../clients/failure-throttle.ts';
import type { Forward } from '../clients/forward.ts';
import type { Owners } from '../clients/owners.ts';
import type { ProcessorBudgets } from '../clients/processor-budgets.ts';
import type { RateLimiter } from '../clients/rate-limiter.ts';
import type { Replicas } from '../clients/replicas.ts';
import type { Slots } from '../clients/slots.ts';
import type { KeyCache } from '../db/key-cache.ts';
import type { IsTrusted } from '../domain/client-network.ts';
import type { ConsoleCodes } from '../domain/console-codes.ts';
import type { Peppers } from '../domain/peppers.ts';
import type { Signals } from '../signals.ts';
import type { KeyUse } from './note-key-use.ts';
import type { SettingsWatch } from './watch-settings.ts';

/** Dependencies of the gateway; each function names those that it needs. */
export interface Deps {
  db: Knex;
  logger: Logger;
  signals: Signals;
  scenes: Scenes;
  peppers: Peppers;
  keyCache: KeyCache;
  /** Undefined without CONSOLE_ONE_TIME. */
  consoleCodes: ConsoleCodes | undefined;
  /** Seals the tokens of links; undefined without LINK_KEYS. */
  linkBox: SecretBox | undefined;
  keyUse: KeyUse;
  /** Counts wrong keys. */
  throttle: FailureThrottle;
  /** Counts wrong tokens of the admin API. */
  adminThrottle: FailureThrottle;
  limiter: RateLimiter;
  slots: Slots;
  /** Limits of the processor time for images of a subject. */
  processorBudgets: ProcessorBudgets;
  watch: SettingsWatch;
  /** Clients of the services, for operators. */
  owners: Owners;
  /** Queries the status of each of their replicas. */
  replicas: Replicas;
  /** Status of this process. */
  status: StatusReader;
  /** Open event streams that are forwarded. */
  streams: OpenStreams;
  /** Forwards a caller's request. */
  forward: Forward;
  settings: Settings;
}

/** From the configuration. */
interface Settings {
  /** The generated document of the public API. */
  openapiFile: string;
  /** Whether the X-Forwarded-For of this address is trusted. */
  isTrustedProxy: IsTrusted;
  /** Interval at which the key of an open stream is checked, in milliseconds. */
  keyCheckMs: number;
  /** Snapshots of video tasks for subjects that have not set it. */
  snapshotsDefault: SnapshotMode;
}
