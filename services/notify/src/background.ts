import type { WakeUp } from '@vision/shared/async/wake-up';
import { createPoller } from '@vision/shared/async/poller';
import type { Poller } from '@vision/shared/async/poller';
import { createDueWorkPoller, IDLE_POLL_MS } from '@vision/shared/db/due-work';
import type { DueWork } from '@vision/shared/db/due-work';
import type { Logger } from '@vision/shared/logger';
import { createAddressPolicy } from '@vision/shared/net/address-policy';
import { createLookup } from '@vision/shared/net/name-lookup';
import { readPorts } from '@vision/shared/net/stream-ports';
import { createSecretBox } from '@vision/shared/secret-box';
import type { Relay } from '@vision/kafka/relay';
import { createConnectMqtt } from './clients/connect-mqtt.ts';
import { createPostWebhook } from './clients/post-webhook.ts';
import { webhookCertificates } from './config.ts';
import type { Config } from './config.ts';
import { bringBackInstants } from './db/bring-back-instants.ts';
import { SOME_BEHIND } from './db/dispatch.ts';
import { SOME_MQTT_DUE } from './db/mqtt-leases.ts';
import { SOME_DUE } from './db/webhook-deliveries.ts';
import { createDeliverer } from './use-cases/webhooks/deliver-webhooks.ts';
import type { Deps, WebhookTools } from './use-cases/deps.ts';
import { dispatchEvents } from './use-cases/webhooks/dispatch-events.ts';
import { repeatRules } from './use-cases/rules/repeat-rules.ts';
import { removeDeletedEndpoints } from './use-cases/webhooks/remove-deleted-endpoints.ts';
import { resealBrokers } from './use-cases/mqtt/reseal-brokers.ts';
import { resealWebhooks } from './use-cases/webhooks/reseal-webhooks.ts';
import { runRetention } from './use-cases/log/run-retention.ts';
import { createMqttServer } from './use-cases/mqtt/serve-mqtt.ts';
import { tellWebhookState } from './use-cases/webhooks/tell-webhook-state.ts';

/** Loops that run beside requests and consumers. */
export interface Background {
  start: () => void;
  stop: () => Promise<void>;
}

/** Builds the tools that send webhooks and MQTT messages; undefined without keys. */
export function createWebhookTools(config: Config): WebhookTools | undefined {
  const { WEBHOOK_KEYS: keys } = config;
  const [current] = keys ?? [];
  if (!keys || !current) return undefined;
  const lookup = createLookup(config.WEBHOOK_DNS_SERVERS);
  const policyFor = (ports: string[]) =>
    createAddressPolicy(config.WEBHOOK_ALLOWED_CIDRS, { isAllowedPort: readPorts(ports), lookup });
  const policy = policyFor(config.WEBHOOK_ALLOWED_PORTS);
  const mqttPolicy = policyFor(config.MQTT_ALLOWED_PORTS);
  const ca = webhookCertificates(config);
  return {
    box: createSecretBox(keys),
    keyVersion: current.version,
    rules: { policy, allowsHttp: config.WEBHOOK_ALLOW_HTTP },
    http: createPostWebhook({
      policy,
      connectMs: config.WEBHOOK_CONNECT_MS,
      totalMs: config.WEBHOOK_TIMEOUT_MS,
      ca,
    }),
    mqtt: {
      rules: { policy: mqttPolicy, allowsPlain: config.MQTT_ALLOW_PLAIN },
      connect: createConnectMqtt({
        policy: mqttPolicy,
        connectMs: config.MQTT_CONNECT_MS,
        ackMs: config.MQTT_ACK_MS,
        ca,
      }),
    },
  };
}

export interface BackgroundOptions {
  config: Config;
  logger: Logger;
  relay: Pick<Relay, 'dueWork'>;
  /** Woken when there are events or deliveries to send. */
  webhookWakeUp: WakeUp;
  /** Woken when MQTT endpoints were changed. */
  mqttWakeUp: WakeUp;
}

/** Builds the loops of the service. */
export function createBackground(deps: Deps, { config, logger, relay, ...wakeUps }: BackgroundOptions): Background {
  const retention = createPoller({
    name: 'event-retention',
    intervalMs: config.RETENTION_INTERVAL_MS,
    logger,
    run: async () => {
      await runRetention(deps);
      return 0;
    },
  });
  const ruleRepeats = createPoller({
    name: 'rule-repeats',
    intervalMs: RULE_REPEATS_MS,
    logger,
    run: async () => {
      await repeatRules(deps);
      return 0;
    },
  });
  const { webhooks } = deps;
  const sending = webhooks && createWebhookLoops({ ...deps, webhooks }, logger, wakeUps);
  // Results evaluates a changed rule within seconds, also when no process sent a notification.
  const dueWork = [relay.dueWork, ...(sending?.dueWork ?? [])];
  const { db } = deps;
  const looking = createDueWorkPoller({
    db,
    logger,
    intervalMs: LOOK_MS,
    dueWork,
    afterStepBack: () => bringBackInstants(db),
  });
  const parts: Background[] = [retention, ruleRepeats, deps.watch, looking, ...(sending ? [sending] : [])];
  return {
    start: () => parts.forEach((part) => part.start()),
    stop: async () => {
      await Promise.all(parts.map((part) => part.stop()));
    },
  };
}

/** Interval of loops with wake-ups; fallback queries find work without one. */
const IDLE_MS = IDLE_POLL_MS;
const LOOK_MS = 2_000;
const UPKEEP_MS = 30_000;
/** Interval between two queries for rules that were last published a day ago. */
const RULE_REPEATS_MS = 3_600_000;

type WakeUps = Pick<BackgroundOptions, 'webhookWakeUp' | 'mqttWakeUp'>;

function createWebhookLoops(
  deps: Deps & { webhooks: WebhookTools },
  logger: Logger,
  wakeUps: WakeUps,
): Background & { dueWork: DueWork[] } {
  const deliverer = createDeliverer({ ...deps, logger, intervalMs: IDLE_MS });
  const dispatcher = createPoller({
    name: 'webhook-dispatch',
    intervalMs: IDLE_MS,
    maxBackoffMs: 2_000,
    logger,
    wakeUp: wakeUps.webhookWakeUp,
    run: async () => {
      const moved = await dispatchEvents(deps);
      // Also for deliveries from requests, which use the same wake-up.
      deliverer.wake();
      return moved;
    },
  });
  const mqtt = createMqttServer({ ...deps, logger, wakeUp: wakeUps.mqttWakeUp });
  const upkeep = createPoller({
    name: 'webhook-upkeep',
    intervalMs: UPKEEP_MS,
    logger,
    run: async () => {
      await tellWebhookState(deps);
      const resealed = await Promise.allSettled([resealWebhooks(deps), resealBrokers(deps)]);
      await removeDeletedEndpoints(deps);
      const failure = resealed.find(({ status }) => status === 'rejected');
      if (failure?.status === 'rejected') throw failure.reason;
      return 0;
    },
  });
  const pollers: Poller[] = [dispatcher, upkeep];
  return {
    dueWork: [
      { isDue: SOME_BEHIND, wake: dispatcher.wake },
      { isDue: SOME_DUE, wake: deliverer.wake },
      { isDue: SOME_MQTT_DUE, wake: mqtt.wake },
    ],
    start: () => {
      for (const poller of pollers) poller.start();
      deliverer.start();
      mqtt.start();
    },
    stop: async () => {
      await Promise.all([...pollers.map((poller) => poller.stop()), deliverer.stop(), mqtt.stop()]);
    },
  };
}
