import type { Knex } from 'knex';
import type { EventProducer } from '@vision/kafka/producer';
import type { OpenStreams } from '@vision/shared/http/open-streams';
import type { StatusReader } from '@vision/shared/status/status';
import type { EventCursorCodec } from '../domain/cursor.ts';
import type { Signals } from '../signals.ts';
import type { LogWatch } from './watch-logs.ts';

/** Everything that use cases work with; each names the few it needs. */
export interface Deps {
  db: Knex;
  signals: Signals;
  cursors: EventCursorCodec;
  /** Cursors of the list of alarms. */
  alarmCursors: EventCursorCodec;
  /** Wakes readers that follow a log. */
  watch: LogWatch;
  streams: OpenStreams;
  /** Call it after a commit that put an event into the outbox. */
  wakeRelay: () => void;
  producer: EventProducer;
  /** How this process stands, for operators. */
  status: StatusReader;
  settings: Settings;
}

/** From the configuration. */
interface Settings {
  /** Days that events are retained. */
  eventDays: number;
  /** Events removed in one transaction. */
  retentionBatch: number;
}
