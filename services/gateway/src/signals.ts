import { meter } from '@vision/shared/telemetry';
import type { Logger } from '@vision/shared/logger';

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
  const upstreamErrors = metrics.createCounter('vision.gateway.upstream.errors', {
    description: 'Calls to a service that gave no answer',
  });
  // A counter that is not there before its first event shows no increase with it, so the alarms begin at 0.
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
    limitDecided: (limit: string, decision: 'allowed' | 'refused') => decisions.add(1, { limit, decision }),
    redisAway: (error: unknown, isFirst: boolean) => {
      fallbacks.add(1);
      if (isFirst) logger.warn({ err: error }, 'redis is away, local limits are in force');
    },
    redisBack: () => logger.info('redis is back'),
    keyStoreAway: () => keyStoreErrors.add(1),
    refused: (reason: string) => refusals.add(1, { reason }),
    upstreamFailed: (upstream: string) => upstreamErrors.add(1, { upstream }),
    keyCreated: (keyId: string, subject: string) => logger.info({ key_id: keyId, subject }, 'key created'),
    keyRevoked: (keyId: string) => logger.info({ key_id: keyId }, 'key revoked'),
    maintenanceSet: (enabled: boolean, reason: string) => logger.info({ enabled, reason }, 'maintenance switched'),
  };
}
