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

/** Everything that use cases and routes work with; each function names the few it needs. */
export interface Deps {
  db: Knex;
  logger: Logger;
  signals: Signals;
  /** Background loops whose steps fail task by task. */
  loops: TaskLoops<'recovery'>;
  scenes: Scenes;
  quota: QuotaClient;
  inference: InferenceClient;
  store: ObjectStore;
  /** What the keys of new pictures begin with. */
  ownPrefix: () => Promise<string>;
  spool: Spool;
  /** Bounds the calls of this process, and those of one subject; those beyond it are refused. */
  callGate: Gate;
  /** Bounds the images that all calls of this process work on at once; the others wait, subjects take turns. */
  imageGate: Gate;
  /** Which calls may have their pictures detected before they are confirmed. */
  speculation: Speculation;
  /** Events were appended: the relay looks at once. */
  wakeRelay: () => void;
  /** Publishes events again when an operator asks for it; else the relay publishes. */
  producer: EventProducer;
  /** For a look at dead letters. */
  kafka: KafkaClient;
  /** How this process stands, for operators. */
  status: StatusReader;
  settings: Settings;
}

/** Numbers from configuration. */
export interface Settings {
  imagesPerCallAtOnce: number;
  /** Longest time from the whole upload of a call until the work on its images is over. */
  callMs: number;
  /** Longest wait for the backend to answer one image: none begins when less is left of a call. */
  detectMs: number;
  leaseMs: number;
  /** Longest wait for another call with the same key. */
  keyWaitMs: number;
  bodyIdleMs: number;
  bodyTotalMs: number;
  retentionDays: number;
  /** Younger pictures may belong to a call that has not stored its result yet. */
  orphanAgeMs: number;
  /** How often all stored objects are looked at. */
  fullSweepMs: number;
  /** Time from the mark of an unused picture until it is removed. */
  sweepGraceMs: number;
  /** Age at which a difference that an audit found counts. */
  auditAgeMs: number;
}
