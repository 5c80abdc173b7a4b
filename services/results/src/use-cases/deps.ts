import type { Knex } from 'knex';
import type { Gate } from '@vision/shared/async/gate';
import type { TaskLoops } from '@vision/shared/async/task-loops';
import type { OpenStreams } from '@vision/shared/http/open-streams';
import type { Logger } from '@vision/shared/logger';
import type { KafkaClient } from '@vision/kafka/kafka';
import type { Arrivals } from '@vision/kafka/arrivals';
import type { EventProducer } from '@vision/kafka/producer';
import type { StatusReader } from '@vision/shared/status/status';
import type { SegmentStore } from '../clients/segment-store.ts';
import type { TaskOwners } from '../clients/task-owners.ts';
import type { CursorCodec } from '../domain/cursor.ts';
import type { TrackCursorCodec } from '../domain/track-cursor.ts';
import type { Signals } from '../signals.ts';
import type { PartitionKeeper } from './retain/keep-partitions.ts';
import type { LiveRules } from './rules/live-rules.ts';
import type { RuleBook } from './rules/rule-book.ts';
import type { TaskWatch } from './read/watch-tasks.ts';

/** Dependencies of all use cases; each names those that it needs. */
export interface Deps {
  db: Knex;
  logger: Logger;
  signals: Signals;
  /** Asks other services for the owner of a task. */
  taskOwners: TaskOwners;
  partitions: PartitionKeeper;
  /** Background loops whose steps fail task by task. */
  loops: TaskLoops<'compaction' | 'deletions' | 'fold' | 'overdue_ends' | 'stored_frames'>;
  /** The objects of older segments, and images of tracks. */
  store: SegmentStore;
  /** Key prefix of new objects. */
  ownPrefix: () => Promise<string>;
  cursors: CursorCodec;
  trackCursors: TrackCursorCodec;
  /** Wakes the fold after tasks were made due. */
  wakeFold: () => void;
  /** The alarm rules of tasks. */
  rules: RuleBook;
  /** Folds tasks as soon as stored frames open or close an alarm. */
  liveRules: LiveRules;
  /** Time up to which every published frame is stored. */
  arrivals: Arrivals;
  /** Wakes readers that follow tasks. */
  watch: TaskWatch;
  streams: OpenStreams;
  /** Limits the concurrent backtests of this process. */
  backtests: Gate;
  /** Limits the concurrent page searches of streams in this process. */
  searches: Gate;
  /** Limits the concurrent timelines of this process. */
  timelines: Gate;
  /** Cursors of the states of sources: attempt and number. */
  sourceCursors: CursorCodec;
  /** Wakes the relay after events were appended. */
  wakeRelay: () => void;
  /** Republishes events for an operator; otherwise the relay publishes. */
  producer: EventProducer;
  /** Reads dead letters. */
  kafka: KafkaClient;
  /** Status of this process, for operators. */
  status: StatusReader;
  settings: Settings;
}

/** From the configuration; durations in milliseconds. */
interface Settings {
  /** Days that results are retained. */
  retentionDays: number;
  /** Days that images of tracks are retained. */
  snapshotDays: number;
  /** Minimum age of an image without a row before it counts as unused. */
  orphanAgeMs: number;
  /** Interval between two sweeps of all images. */
  fullSweepMs: number;
  /**
   * Grace period from the sending of an object that became part of no segment until its removal, at least an hour; the
   * same from the mark of an unused image.
   */
  sweepGraceMs: number;
  /** Time after the end of a task after which a missing end-of-stream marker is no longer awaited. */
  endPatienceMs: number;
  /** Time that an end-of-stream marker waits for the frames that it counts. */
  framePatienceMs: number;
  /** Minimum age of a difference from an audit before it counts. */
  auditAgeMs: number;
  /** Minimum time that frames stay in the database before they move to the object store. */
  hotMs: number;
}
