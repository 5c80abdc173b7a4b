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

/** Dependencies of all use cases; each names those that it needs. */
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
  /** Limits changes of alarm rules. */
  ruleChanges: RuleChanges;
  /** Call it after a commit that added an event to the outbox. */
  wakeRelay: () => void;
  producer: EventProducer;
  /** Status of this process, for operators. */
  status: StatusReader;
  /** Undefined without keys for addresses and secrets: webhooks are disabled then. */
  webhooks: WebhookTools | undefined;
  /** Creates deliveries of new events, and sends due ones, now instead of at the next poll. */
  wakeWebhooks: () => void;
  /** Running webhooks of this process. */
  busy: BusyCounts;
  /** Connects to new and changed MQTT endpoints now. */
  wakeMqtt: () => void;
  settings: Settings;
}

/** Tools that send webhooks and MQTT messages. */
export interface WebhookTools {
  box: SecretBox;
  /** Version of the key that encrypts. */
  keyVersion: number;
  rules: WebhookRules;
  http: PostWebhook;
  mqtt: { rules: MqttRules; connect: ConnectMqtt };
}

/** Dependencies of sending a webhook. */
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
