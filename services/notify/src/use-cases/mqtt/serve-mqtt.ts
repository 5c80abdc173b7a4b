import type { WakeUp } from '@vision/shared/async/wake-up';
import { backoff } from '@vision/shared/async/backoff';
import { IDLE_POLL_MS } from '@vision/shared/db/due-work';
import { createPoller } from '@vision/shared/async/poller';
import { inTransaction } from '@vision/shared/db/transaction';
import type { Logger } from '@vision/shared/logger';
import { appendToLog } from '../../db/event-log.ts';
import {
  claimMqttEndpoints,
  noteMqttConnected,
  noteMqttFailure,
  postponeMqtt,
  releaseMqttLease,
  renewMqttLeases,
} from '../../db/mqtt-leases.ts';
import { disableMqttEndpoint } from '../../db/mqtt-endpoints.ts';
import type { LeasedMqttEndpoint } from '../../db/mqtt-leases.ts';
import { DISABLE_AFTER } from '../../domain/delivery.ts';
import { openBroker, parseMqttUrl } from '../../domain/mqtt-broker.ts';
import { MqttError } from '../../domain/mqtt-failure.ts';
import type { MqttFailure } from '../../domain/mqtt-failure.ts';
import { mqttDisabledEvent } from '../../domain/webhook-event.ts';
import type { Deps, WebhookTools } from '../deps.ts';
import { publishLog } from './publish-log.ts';

export type MqttDeps = Pick<Deps, 'db' | 'signals' | 'watch'> & {
  webhooks: WebhookTools;
  logger: Logger;
  wakeUp: WakeUp;
};

/** Maintains the connections to brokers of callers. */
export interface MqttServer {
  start: () => void;
  /** Checks now for endpoints to connect to, and for changed and deleted ones. */
  wake: () => void;
  /** Closes all connections and releases them to other processes. */
  stop: () => Promise<void>;
}

/** Maximum number of connections of one process. */
const AT_ONCE = 500;
const LEASE_MS = 30_000;
const INTERVAL_MS = 5_000;
/** A process that could not renew leases for this time closes its connections, before another one may claim them. */
const GIVE_UP_MS = 20_000;
/** Pauses after failures of a broker. */
const PAUSES = { minMs: 1_000, maxMs: 300_000 } as const;
/** Pause after a failure of this service. */
const OWN_PAUSE_MS = 5_000;

interface Held {
  endpoint: LeasedMqttEndpoint;
  work: Promise<void>;
  stop: AbortController;
}

/** One process at a time is connected for an endpoint: the one that holds its lease. */
export function createMqttServer(deps: MqttDeps): MqttServer {
  const { db, logger, wakeUp } = deps;
  const held = new Map<string, Held>();
  /** Time before the last successful renewal. */
  let renewedAt = performance.now();

  const serve = (endpoint: LeasedMqttEndpoint) => {
    const stop = new AbortController();
    const work = serveEndpoint(deps, endpoint, stop.signal)
      // The lease expires, and a process retries.
      .catch((error: unknown) =>
        logger.error({ err: error, host: endpoint.host }, 'an MQTT endpoint could not be served'),
      )
      .finally(() => held.delete(endpoint.lease_token));
    held.set(endpoint.lease_token, { endpoint, work, stop });
  };

  const renew = async () => {
    const asked = [...held.values()];
    if (asked.length === 0) return;
    const valid = await renewMqttLeases(
      db,
      asked.map(({ endpoint }) => endpoint),
      LEASE_MS,
    );
    for (const { endpoint, stop } of asked) if (!valid.has(endpoint.lease_token)) stop.abort();
  };

  const poller = createPoller({
    name: 'mqtt',
    // Without a lease there is nothing to renew, and other processes claim waiting endpoints.
    intervalMs: () => (held.size > 0 ? INTERVAL_MS : IDLE_POLL_MS),
    maxBackoffMs: INTERVAL_MS,
    logger,
    wakeUp,
    run: async () => {
      const began = performance.now();
      try {
        await renew();
        renewedAt = began;
      } catch (error) {
        if (performance.now() - renewedAt > GIVE_UP_MS) for (const { stop } of held.values()) stop.abort();
        throw error;
      }
      const claimed = await claimMqttEndpoints(db, { limit: Math.max(0, AT_ONCE - held.size), leaseMs: LEASE_MS });
      claimed.forEach(serve);
      return 0;
    },
  });
  return {
    start: poller.start,
    wake: poller.wake,
    stop: async () => {
      await poller.stop();
      for (const { stop } of held.values()) stop.abort();
      await Promise.all([...held.values()].map(({ work }) => work));
    },
  };
}

/** Connects, publishes until the connection or the lease ends, and records the outcome. */
async function serveEndpoint(deps: MqttDeps, endpoint: LeasedMqttEndpoint, signal: AbortSignal): Promise<void> {
  const { db, signals } = deps;
  try {
    const session = await connect(deps.webhooks, endpoint, signal);
    try {
      await noteMqttConnected(db, endpoint);
      signals.mqttConnected(endpoint.host);
      await publishLog(deps, endpoint, { session, signal });
    } finally {
      await session.close();
    }
    await releaseMqttLease(db, endpoint);
  } catch (error) {
    if (error instanceof MqttError) {
      await recordFailure(deps, endpoint, error.failure);
      return;
    }
    if (signal.aborted) {
      await releaseMqttLease(db, endpoint);
      return;
    }
    // A failure of this service, not of the broker: the database does not answer, or a key is missing.
    signals.mqttFailed('internal_error', endpoint.host);
    await postponeMqtt(db, endpoint, OWN_PAUSE_MS).catch(() => undefined);
    throw error;
  }
}

function connect({ box, mqtt }: WebhookTools, endpoint: LeasedMqttEndpoint, signal: AbortSignal) {
  const broker = openBroker(box, endpoint.endpoint_key, endpoint.broker_box);
  // The rules may no longer allow the address.
  const url = allowed(() => parseMqttUrl(broker.url, mqtt.rules));
  return mqtt.connect({ ...broker, url, clientId: clientIdOf(endpoint), signal });
}

function allowed<T>(parse: () => T): T {
  try {
    return parse();
  } catch {
    throw new MqttError('unreachable');
  }
}

/** At most 23 letters and digits, which every broker accepts (MQTT 3.1.1, 3.1.3.1). */
const clientIdOf = ({ endpoint_key: key }: LeasedMqttEndpoint) => `vision${key.replaceAll('-', '').slice(0, 17)}`;

/** One transaction: the failure, the pause, or the end of an endpoint whose broker has not answered for days. */
async function recordFailure(
  { db, signals }: MqttDeps,
  endpoint: LeasedMqttEndpoint,
  failure: MqttFailure,
): Promise<void> {
  const { subject, endpoint_id: endpointId, host } = endpoint;
  const disabled = await inTransaction(db, async (tx) => {
    const failing = await noteMqttFailure(tx, endpoint, failure);
    if (!failing) {
      // Its owner has changed it in the meantime: it is connected again at once.
      await releaseMqttLease(tx, endpoint);
      return undefined;
    }
    if (failing.hours < DISABLE_AFTER.hours || failing.failures < DISABLE_AFTER.failures) {
      await postponeMqtt(tx, endpoint, backoff(failing.failures, PAUSES));
      return undefined;
    }
    await disableMqttEndpoint(tx, endpoint.endpoint_key, 'failing');
    const event = mqttDisabledEvent({ subject, endpointId, occurredAt: new Date() }, endpoint.endpoint_key, 'failing');
    await appendToLog(tx, event);
    return event;
  });
  signals.mqttFailed(failure, host);
  if (disabled) signals.mqttDisabled(host, disabled);
}
