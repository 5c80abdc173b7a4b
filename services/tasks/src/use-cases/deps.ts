import type { Knex } from 'knex';
import type { TaskLoops } from '@vision/shared/async/task-loops';
import type { InferenceClient } from '@vision/creation/inference-client';
import type { Logger } from '@vision/shared/logger';
import type { AddressPolicy } from '@vision/shared/net/address-policy';
import type { ObjectStore } from '@vision/objects/object-store';
import type { QuotaClient } from '@vision/creation/quota-client';
import type { Scenes } from '@vision/shared/scenes';
import type { SecretBox } from '@vision/shared/secret-box';
import type { KafkaClient } from '@vision/kafka/kafka';
import type { EventProducer } from '@vision/kafka/producer';
import type { StatusReader } from '@vision/shared/status/status';
import type { BackendStatus } from '../clients/backend-status.ts';
import type { ImagesClient } from '../clients/images.ts';
import type { ResultsClient } from '../clients/results.ts';
import type { VideoReader } from '../clients/video-reader.ts';
import type { AddressProbe } from '../clients/address-probe.ts';
import type { Signals } from '../signals.ts';
import type { AwaitedEnds } from './follow/awaited-ends.ts';
import type { CapacitySlots, CapacitySlotsSettings } from './create/capacity-slots.ts';
import type { ProbeLimits } from './create/probe-limits.ts';
import type { StopSender } from './follow/stop-sender.ts';

/** Dependencies of use cases; each function names the few it needs. */
export interface Deps {
  db: Knex;
  logger: Logger;
  signals: Signals;
  scenes: Scenes;
  box: SecretBox;
  /** Signs and checks the cursors of lists, with keys of its own. */
  cursorBox: Pick<SecretBox, 'digest' | 'matches'>;
  policy: AddressPolicy;
  probe: AddressProbe;
  probeLimits: ProbeLimits;
  /** Limits of probe requests, which also count towards `probeLimits`. */
  streamProbeLimits: ProbeLimits;
  slots: CapacitySlots;
  quota: QuotaClient;
  inference: InferenceClient;
  images: ImagesClient | undefined;
  results: ResultsClient | undefined;
  store: ObjectStore;
  /** Stored videos for downloads, on connections of their own. */
  videos: VideoReader;
  /** Prefix of the keys of new videos. */
  ownPrefix: () => Promise<string>;
  /** Background loops in which each task fails on its own. */
  loops: TaskLoops<'readability' | 'reconciler' | 'recovery'>;
  /** Ended jobs whose readable frames are to be queried at results. */
  awaitedEnds: AwaitedEnds;
  stops: StopSender;
  /** Refunds the units of dead create requests of a subject; concurrent callers share one run. */
  refundDeadCreates: (subject: string) => Promise<number>;
  /** Wakes the relay after events were appended. */
  wakeRelay: () => void;
  /** Wakes the reconciler when a task is due. */
  wakeReconciler: () => void;
  /** Publishes events again on request of an operator; otherwise the relay publishes. */
  producer: EventProducer;
  /** For reading dead letters. */
  kafka: KafkaClient;
  /** Status of this process for operators. */
  status: StatusReader;
  backendStatus: BackendStatus;
  settings: Settings;
}

/** Numbers from configuration. */
export interface Settings extends CapacitySlotsSettings {
  bodyIdleMs: number;
  bodyTotalMs: number;
  leaseMs: number;
  keyWaitMs: number;
  probeTotalMs: number;
  /** Whether stream probes return the frame. */
  probeSnapshots: boolean;
  stopWaitMs: number;
  /** Maximum wait of a create request for answers of the backend. */
  submitTimeoutMs: number;
  reconcileMs: number;
  quietReconcileMs: number;
  resolvingReconcileMs: number;
  resultsGraceMs: number;
  vanishMs: number;
  orphanAgeMs: number;
  /** Interval between sweeps of all stored objects. */
  fullSweepMs: number;
  /** Time from marking an unused video until it is removed. */
  sweepGraceMs: number;
  retentionDays: number;
  retentionBatch: number;
  /** Age from which an audit reports a difference. */
  auditAgeMs: number;
}

/** Dependencies of a move of a task. */
export type MoveDeps = Pick<Deps, 'db' | 'signals' | 'wakeRelay' | 'wakeReconciler'>;
/** Dependencies of the rollback of a create request. */
export type RollbackDeps = Pick<Deps, 'db' | 'quota' | 'store' | 'logger'>;
/** Dependencies of a submission and its outcome. */
export type SubmitDeps = MoveDeps & RollbackDeps & Pick<Deps, 'inference' | 'slots' | 'settings'>;
/** Dependencies of every create request. */
export type CreateDeps = SubmitDeps & Pick<Deps, 'scenes' | 'box' | 'refundDeadCreates' | 'ownPrefix'>;
export type ReconcileDeps = MoveDeps & Pick<Deps, 'inference' | 'awaitedEnds' | 'stops' | 'loops' | 'settings'>;
