import type { Knex } from 'knex';
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
  /** Wakes readers that follow a log. */
  watch: LogWatch;
  streams: OpenStreams;
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
