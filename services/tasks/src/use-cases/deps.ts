import type { Knex } from 'knex';
import type { InferenceClient } from '@vision/shared/inference-client';
import type { Logger } from '@vision/shared/logger';
import type { AddressPolicy } from '@vision/shared/net/address-policy';
import type { ObjectStore } from '@vision/shared/object-store/object-store';
import type { QuotaClient } from '@vision/shared/quota-client';
import type { Scenes } from '@vision/shared/scenes';
import type { SecretBox } from '@vision/shared/secret-box';
import type { ImagesClient } from '../clients/images.ts';
import type { ResultsClient } from '../clients/results.ts';
import type { StreamProbe } from '../clients/stream-probe.ts';
import type { Clock } from '../db/task-row.ts';
import type { Signals } from '../signals.ts';

/** Everything that use cases work with; each names the few it needs. */
export interface Deps {
  db: Knex;
  clock: Clock;
  logger: Logger;
  signals: Signals;
  scenes: Scenes;
  box: SecretBox;
  policy: AddressPolicy;
  probe: StreamProbe;
  quota: QuotaClient;
  inference: InferenceClient;
  images: ImagesClient | undefined;
  results: ResultsClient | undefined;
  objects: ObjectStore;
  /** Events were appended: the relay looks at once. */
  wakeRelay: () => void;
  /** A task is due: the reconciler looks at once. */
  wakeReconciler: () => void;
  limits: TimeLimits;
}

/** Durations in milliseconds, from configuration. */
interface TimeLimits {
  leaseMs: number;
  keyWaitMs: number;
  stopWaitMs: number;
  submitTimeoutMs: number;
  reconcileMs: number;
  resolvingReconcileMs: number;
  resultsGraceMs: number;
  vanishMs: number;
  orphanAgeMs: number;
}

/** What a submission and its outcome work with. */
export type SubmitDeps = Pick<
  Deps,
  'db' | 'clock' | 'quota' | 'inference' | 'objects' | 'logger' | 'signals' | 'wakeRelay' | 'wakeReconciler' | 'limits'
>;
