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

/** Everything that use cases work with; each names the few it needs. */
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
  /** Of requests for a probe alone, which count among `probeLimits` too. */
  streamProbeLimits: ProbeLimits;
  slots: CapacitySlots;
  quota: QuotaClient;
  inference: InferenceClient;
  images: ImagesClient | undefined;
  results: ResultsClient | undefined;
  store: ObjectStore;
  /** Stored videos as callers read them, on connections of their own. */
  videos: VideoReader;
  /** What the keys of new videos begin with. */
  ownPrefix: () => Promise<string>;
  /** Background loops whose steps fail task by task. */
  loops: TaskLoops<'readability' | 'reconciler' | 'recovery'>;
  /** Ended jobs whose frames results is to be asked for. */
  awaitedEnds: AwaitedEnds;
  stops: StopSender;
  /** Gives back what dead creates of a subject still hold; those who ask at the same time share the work. */
  refundDeadCreates: (subject: string) => Promise<number>;
  /** Events were appended: the relay looks at once. */
  wakeRelay: () => void;
  /** A task is due: the reconciler looks at once. */
  wakeReconciler: () => void;
  /** Publishes events again when an operator asks for it; else the relay publishes. */
  producer: EventProducer;
  /** For a look at dead letters. */
  kafka: KafkaClient;
  /** How this process stands, for operators. */
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
  /** Longest wait of one create for answers of the backend. */
  submitTimeoutMs: number;
  reconcileMs: number;
  quietReconcileMs: number;
  resolvingReconcileMs: number;
  resultsGraceMs: number;
  vanishMs: number;
  orphanAgeMs: number;
  /** How often all stored objects are looked at. */
  fullSweepMs: number;
  /** Time from the mark of an unused video until it is removed. */
  sweepGraceMs: number;
  retentionDays: number;
  retentionBatch: number;
  /** Age at which a difference that an audit found counts. */
  auditAgeMs: number;
}

/** What a move of a task works with. */
export type MoveDeps = Pick<Deps, 'db' | 'signals' | 'wakeRelay' | 'wakeReconciler'>;
/** What gives back what a create held. */
export type RollbackDeps = Pick<Deps, 'db' | 'quota' | 'store' | 'logger'>;
/** What a submission and its outcome work with. */
export type SubmitDeps = MoveDeps & RollbackDeps & Pick<Deps, 'inference' | 'slots' | 'settings'>;
/** What every create works with. */
export type CreateDeps = SubmitDeps & Pick<Deps, 'scenes' | 'box' | 'refundDeadCreates' | 'ownPrefix'>;
export type ReconcileDeps = MoveDeps & Pick<Deps, 'inference' | 'awaitedEnds' | 'stops' | 'loops' | 'settings'>;
