import type { Knex } from 'knex';
import { fail } from '@vision/contracts/errors';
import type { EventProducer } from '@vision/kafka/producer';
import type { OpenStreams } from '@vision/shared/http/open-streams';
import type { SecretBox } from '@vision/shared/secret-box';
import type { StatusReader } from '@vision/shared/status/status';
import type { ConnectMqtt } from '../clients/connect-mqtt.ts';
import type { PostWebhook } from '../clients/post-webhook.ts';
import type { EventCursorCodec } from '../domain/cursor.ts';
import type { DeliveryCursorCodec } from '../domain/delivery-query.ts';
import type { MqttRules } from '../domain/mqtt-broker.ts';
import type { WebhookRules } from '../domain/webhook-url.ts';
import type { Signals } from '../signals.ts';
import type { BusyCounts } from './webhooks/busy-counts.ts';
import type { RuleChanges } from './rules/rule-changes.ts';
import type { LogWatch } from './log/watch-logs.ts';

/** Everything that use cases work with; each names the few it needs. */
export interface Deps {
  db: Knex;
  signals: Signals;
  cursors: EventCursorCodec;
  /** Cursors of the list of alarms. */
  alarmCursors: EventCursorCodec;
  deliveryCursors: DeliveryCursorCodec;
  /** Wakes readers that follow a log. */
  watch: LogWatch;
  streams: OpenStreams;
  /** Bounds changes of alarm rules. */
  ruleChanges: RuleChanges;
  /** Call it after a commit that put an event into the outbox. */
  wakeRelay: () => void;
  producer: EventProducer;
  /** How this process stands, for operators. */
  status: StatusReader;
  /** Absent without keys for addresses and secrets: there are no webhooks then. */
  webhooks: WebhookTools | undefined;
  /** Makes deliveries of new events, and sends what is due, now rather than at the next poll. */
  wakeWebhooks: () => void;
  /** Webhooks under way in this process. */
  busy: BusyCounts;
  /** Connects to new and changed MQTT endpoints now. */
  wakeMqtt: () => void;
  settings: Settings;
}

/** What webhooks and MQTT messages are sent with. */
export interface WebhookTools {
  box: SecretBox;
  /** Version of the key that encrypts. */
  keyVersion: number;
  rules: WebhookRules;
  http: PostWebhook;
  mqtt: { rules: MqttRules; connect: ConnectMqtt };
}

/** What sending a webhook needs. */
export type AttemptDeps = Pick<Deps, 'db' | 'signals'> & { webhooks: WebhookTools };

/** @throws AppError `webhooks_not_configured`. */
export function neededTools({ webhooks }: Pick<Deps, 'webhooks'>): WebhookTools {
  if (!webhooks) throw fail.sysUnavailable('webhooks_not_configured', undefined, 60);
  return webhooks;
}

/** From the configuration. */
interface Settings {
  /** Days that events are retained. */
  eventDays: number;
  /** Events removed in one transaction. */
  retentionBatch: number;
}
