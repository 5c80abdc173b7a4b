import type { Knex } from 'knex';
import type { Gate } from '@vision/shared/async/gate';
import type { TaskLoops } from '@vision/shared/async/task-loops';
import type { InferenceClient } from '@vision/creation/inference-client';
import type { Logger } from '@vision/shared/logger';
import type { ObjectStore } from '@vision/objects/object-store';
import type { QuotaClient } from '@vision/creation/quota-client';
import type { Scenes } from '@vision/shared/scenes';
import type { KafkaClient } from '@vision/kafka/kafka';
import type { EventProducer } from '@vision/kafka/producer';
import type { StatusReader } from '@vision/shared/status/status';
import type { Spool } from '../clients/spool.ts';
import type { Speculation } from '../domain/speculation.ts';
import type { Signals } from '../signals.ts';

/** Dependencies of use cases and routes; each function names the few it needs. */
export interface Deps {
  db: Knex;
  logger: Logger;
  signals: Signals;
  /** Background loops in which each task fails on its own. */
  loops: TaskLoops<'recovery'>;
  scenes: Scenes;
  quota: QuotaClient;
  inference: InferenceClient;
  store: ObjectStore;
  /** Prefix of the keys of new images. */
  ownPrefix: () => Promise<string>;
  spool: Spool;
  /** Limits the concurrent calls of this process and of each subject; calls beyond a limit are refused. */
  callGate: Gate;
  /** Limits the concurrent images of all calls of this process; others wait, with fair queueing between subjects. */
  imageGate: Gate;
  /** Decides which calls may have their images detected before they are confirmed. */
  speculation: Speculation;
  /** Wakes the relay after events were appended. */
  wakeRelay: () => void;
  /** Publishes events again on request of an operator; otherwise the relay publishes. */
  producer: EventProducer;
  /** For reading dead letters. */
  kafka: KafkaClient;
  /** Status of this process for operators. */
  status: StatusReader;
  settings: Settings;
}

/** Numbers from configuration. */
export interface Settings {
  imagesPerCallAtOnce: number;
  /** Maximum time from the complete upload of a call to the end of the work on its images. */
  callMs: number;
  /** Maximum wait for the backend to answer one image; no image begins when the call has less time left. */
  detectMs: number;
  leaseMs: number;
  /** Maximum wait for another call with the same key. */
  keyWaitMs: number;
  bodyIdleMs: number;
  bodyTotalMs: number;
  retentionDays: number;
  /** Minimum age of orphans: younger images may belong to a call whose result is not stored yet. */
  orphanAgeMs: number;
  /** Interval between sweeps of all stored objects. */
  fullSweepMs: number;
  /** Time from marking an unused image until it is removed. */
  sweepGraceMs: number;
  /** Age from which an audit reports a difference. */
  auditAgeMs: number;
}
