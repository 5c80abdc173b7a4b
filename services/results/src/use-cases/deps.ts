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

/** Everything that use cases work with; each names the few it needs. */
export interface Deps {
  db: Knex;
  logger: Logger;
  signals: Signals;
  /** Asks other services whose task an id names. */
  taskOwners: TaskOwners;
  partitions: PartitionKeeper;
  /** Background loops whose steps fail task by task. */
  loops: TaskLoops<'compaction' | 'deletions' | 'fold' | 'overdue_ends' | 'stored_frames'>;
  /** The objects of older segments, and images of tracks. */
  store: SegmentStore;
  /** What the keys of new objects begin with. */
  ownPrefix: () => Promise<string>;
  cursors: CursorCodec;
  trackCursors: TrackCursorCodec;
  /** Tasks were made due: they are folded at once. */
  wakeFold: () => void;
  /** The alarm rules of tasks. */
  rules: RuleBook;
  /** Folds tasks as soon as stored frames open or close an alarm. */
  liveRules: LiveRules;
  /** Up to when every published frame is stored. */
  arrivals: Arrivals;
  /** Wakes readers that follow tasks. */
  watch: TaskWatch;
  streams: OpenStreams;
  /** Bounds the backtests that this process works on at once. */
  backtests: Gate;
  /** Bounds the pages that streams of this process search at once. */
  searches: Gate;
  /** Bounds the timelines that this process works on at once. */
  timelines: Gate;
  /** Of the states of sources: attempt and number. */
  sourceCursors: CursorCodec;
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

/** From the configuration; durations in milliseconds. */
interface Settings {
  /** Days that results are kept. */
  retentionDays: number;
  /** Days that images of tracks are retained. */
  snapshotDays: number;
  /** Minimum age of an image without a row before it counts as unused. */
  orphanAgeMs: number;
  /** Between two sweeps through all images. */
  fullSweepMs: number;
  /**
   * Time from the sending of an object until it is removed when it became no part of a segment, an hour at least; and
   * from the mark of an unused image.
   */
  sweepGraceMs: number;
  /** Time after the end of a task when a missing end mark is waited for no more. */
  endPatienceMs: number;
  /** How long an end mark waits for frames that it speaks of. */
  framePatienceMs: number;
  /** Age at which a difference that an audit found counts. */
  auditAgeMs: number;
  /** How long frames stay in the database at least before they go to the object store. */
  hotMs: number;
}
