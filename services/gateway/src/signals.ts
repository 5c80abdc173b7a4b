import { meter } from '@vision/shared/telemetry';
import type { Logger } from '@vision/shared/logger';
import type { ApiKey } from './domain/api-key.ts';
import type { Maintenance } from './domain/maintenance.ts';

export type Signals = ReturnType<typeof createSignals>;

export interface ServedRequest {
  operation: string;
  status: number;
  durationMs: number;
  /** Public id of the key. */
  keyId: string | undefined;
  subject: string | undefined;
  requestId: string;
  isCut: boolean;
}

/** Everything the gateway tells an operator, in one place. Labels are few and never ids. */
export function createSignals(logger: Logger) {
  const { requests, duration, decisions, fallbacks, keyStoreErrors, refusals, cuts, operatorActs, upstreamErrors } =
    createInstruments();
  // A counter that first appears with its first event shows no increase, so alarms are there from the start with 0.
  fallbacks.add(0);
  keyStoreErrors.add(0);
  for (const upstream of ['tasks', 'images', 'results', 'quota']) upstreamErrors.add(0, { upstream });
  return {
    served: (request: ServedRequest) => {
      const { operation, status, durationMs } = request;
      const statusClass = request.isCut ? 'cut' : `${Math.floor(status / 100)}xx`;
      requests.add(1, { operation, status: statusClass });
      duration.record(durationMs, { operation });
      logger.info(request, 'request');
    },
    limitDecided: (limit: string, decision: 'allowed' | 'refused', subject: string) => {
      decisions.add(1, { limit, decision });
      if (decision === 'refused') logger.info({ limit, subject }, 'a caller has reached a limit');
    },
    redisAway: (error: unknown, isFirst: boolean) => {
      fallbacks.add(1);
      if (isFirst) logger.warn({ err: error }, 'redis is away, local limits are in force');
    },
    redisBack: () => logger.info('redis is back'),
    keyStoreAway: (error: unknown) => {
      keyStoreErrors.add(1);
      logger.warn({ err: error }, 'a key could not be checked');
    },
    refused: (reason: string) => {
      refusals.add(1, { reason });
      logger.info({ reason }, 'credentials were refused');
    },
    connectionCut: (listener: 'public' | 'admin', reason: string) => {
      cuts.add(1, { listener, reason });
      logger.info({ listener, reason }, 'a connection was cut');
    },
    upstreamFailed: (upstream: string, error: unknown) => {
      upstreamErrors.add(1, { upstream });
      logger.warn({ upstream, err: error }, 'a service gave no answer');
    },
    keyCreated: ({ key_id, subject }: ApiKey, actor: string) => {
      operatorActs.add(1, { action: 'key.create' });
      logger.info({ key_id, subject, actor }, 'key created');
    },
    keyRevoked: (keyId: string, actor: string) => {
      operatorActs.add(1, { action: 'key.revoke' });
      logger.info({ key_id: keyId, actor }, 'key revoked');
    },
    maintenanceSet: ({ enabled, reason }: Maintenance, actor: string) => {
      operatorActs.add(1, { action: 'maintenance.set' });
      logger.info({ enabled, reason, actor }, 'maintenance switched');
    },
  };
}

function createInstruments() {
  const metrics = meter('gateway');
  const requests = metrics.createCounter('vision.gateway.requests', {
    description: 'Requests by operation and status',
  });
  const duration = metrics.createHistogram('vision.gateway.request.duration', {
    unit: 'ms',
    description: 'Time until the last byte of the answer',
  });
  const decisions = metrics.createCounter('vision.gateway.limit.decisions', {
    description: 'Decisions of rate limit and in-flight slots',
  });
  const fallbacks = metrics.createCounter('vision.gateway.redis.fallbacks', {
    description: 'Decisions made locally because Redis was away; any growth is an alarm',
  });
  const keyStoreErrors = metrics.createCounter('vision.gateway.key_store.errors', {
    description: 'Keys that could not be checked because the database was away',
  });
  const refusals = metrics.createCounter('vision.gateway.auth.refusals', { description: 'Refused credentials' });
  const cuts = metrics.createCounter('vision.gateway.connections.cut', {
    description: 'Connections ended because the client was too slow or had too many',
  });
  const operatorActs = metrics.createCounter('vision.gateway.operator.acts', {
    description: 'Keys created and revoked, maintenance switched',
  });
  const upstreamErrors = metrics.createCounter('vision.gateway.upstream.errors', {
    description: 'Calls to a service that gave no answer',
  });
  return { requests, duration, decisions, fallbacks, keyStoreErrors, refusals, cuts, operatorActs, upstreamErrors };
}
