import type { Logger } from '@vision/shared/logger';
import { createCounter, createHistogram, observe } from '@vision/shared/telemetry/instruments';
import { factsOf as upstreamFactsOf } from '@vision/shared/upstream/upstream-facts';
import type { ApiKey } from './domain/api-key.ts';
import type { Maintenance } from './domain/maintenance.ts';
import { metrics } from './metrics.ts';

export type Signals = ReturnType<typeof createSignals>;

export interface ServedRequest {
  operation: string;
  status: number;
  durationMs: number;
  /** Public id of the key. */
  keyId: string | undefined;
  subject: string | undefined;
  requestId: string;
  /** The response did not reach the client completely. */
  isCut: boolean;
  /** Of a refusal. */
  code: string | undefined;
  reason: string | undefined;
}

type LimitName = (typeof metrics.limitDecisions.labels.limit)[number];
type AuthRefusal = (typeof metrics.authRefusals.labels.reason)[number];
type CutReason = (typeof metrics.connectionsCut.labels.reason)[number];
type Owner = (typeof metrics.upstreamErrors.labels.upstream)[number];

/** All logs and metrics of the gateway for operators. Labels have few values and never ids. */
export function createSignals(logger: Logger) {
  const { requests, duration, decisions, fallbacks, keyStoreErrors, refusals, cuts, operatorActs, upstreamErrors } =
    createInstruments();
  return {
    served: (request: ServedRequest) => {
      const { operation, status, durationMs, code = '', reason = '', isCut } = request;
      requests.add(1, { operation, status: isCut ? 'cut' : String(status), code, reason });
      duration.record(durationMs / 1000, { operation, status_class: isCut ? 'cut' : classOf(status) });
      logger.info(factsOf(request), 'request');
    },
    /** A request with images or a video begins; call the returned function when it ends. */
    uploadBegan: countUploads(),
    limitDecided: (limit: LimitName, decision: 'allowed' | 'refused', subject: string) => {
      decisions.add(1, { limit, decision });
      if (decision === 'refused') logger.info({ limit, subject }, 'a caller has reached a limit');
    },
    redisAway: (error: unknown, isFirst: boolean) => {
      fallbacks.add(1);
      if (isFirst) logger.warn({ err: error }, 'redis unavailable; each replica counts limits by itself');
    },
    redisBack: () => logger.info('redis available again'),
    keyStoreAway: (error: unknown) => {
      keyStoreErrors.add(1);
      logger.warn({ err: error }, 'a key could not be checked');
    },
    refused: (reason: AuthRefusal) => {
      refusals.add(1, { reason });
      logger.info({ reason }, 'credentials were refused');
    },
    connectionCut: (listener: 'public' | 'admin', reason: CutReason) => {
      cuts.add(1, { listener, reason });
      logger.info({ listener, reason }, 'a connection was cut');
    },
    upstreamFailed: (upstream: Owner, error: unknown) => {
      upstreamErrors.add(1, { upstream });
      logger.warn({ upstream: upstreamFactsOf(error) ?? { name: upstream }, err: error }, 'service did not respond');
    },
    keyCreated: ({ key_id, subject }: ApiKey, actor: string) => {
      operatorActs.add(1, { action: 'key.create' });
      logger.info({ key_id, subject, actor }, 'key created');
    },
    keyRevoked: (keyId: string, actor: string) => {
      operatorActs.add(1, { action: 'key.revoke' });
      logger.info({ key_id: keyId, actor }, 'key revoked');
    },
    webhooksEnded: (ended: { endpoints: number; deliveries: number }) => {
      logger.info(ended, 'webhook endpoints of ended keys were disabled');
    },
    maintenanceSet: ({ enabled, reason }: Maintenance, actor: string) => {
      operatorActs.add(1, { action: 'maintenance.set' });
      logger.info({ enabled, reason, actor }, 'maintenance switched');
    },
  };
}

function createInstruments() {
  return {
    requests: createCounter(metrics.requests),
    duration: createHistogram(metrics.duration),
    decisions: createCounter(metrics.limitDecisions),
    fallbacks: createCounter(metrics.redisFallbacks),
    keyStoreErrors: createCounter(metrics.keyStoreErrors),
    refusals: createCounter(metrics.authRefusals),
    cuts: createCounter(metrics.connectionsCut),
    operatorActs: createCounter(metrics.operatorActs),
    upstreamErrors: createCounter(metrics.upstreamErrors),
  };
}

/** @returns a function that counts one more in progress and returns the function for its end */
function countUploads(): () => () => void {
  let underWay = 0;
  observe(metrics.uploads, (tell) => tell(underWay));
  return () => {
    underWay += 1;
    let ended = false;
    return () => {
      if (!ended) underWay -= 1;
      ended = true;
    };
  };
}

type StatusClass = '2xx' | '3xx' | '4xx' | '5xx';

/** Only these classes are sent; an invalid status counts as a fault of the gateway. */
function classOf(status: number): StatusClass {
  return status >= 500 || status < 200 ? '5xx' : status >= 400 ? '4xx' : status >= 300 ? '3xx' : '2xx';
}

function factsOf({ operation, status, durationMs, keyId, subject, requestId, isCut, code, reason }: ServedRequest) {
  return {
    operation,
    status,
    code,
    reason,
    duration_ms: durationMs,
    key_id: keyId,
    subject,
    request_id: requestId,
    is_cut: isCut,
  };
}
