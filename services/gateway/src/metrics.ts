import { buckets } from '@vision/shared/telemetry/buckets';
import { counter, gauge, histogram } from '@vision/shared/telemetry/metric';

const cutReasons = [
  'slow_upload',
  'slow_reader',
  'body_timeout',
  'answer_timeout',
  'head_timeout',
  'too_many_connections',
  'too_many_pipelined',
] as const;

const operation = 'one of ours; `none` when no route was reached';

/** Metrics of the gateway. */
export const metrics = {
  requests: counter('vision.gateway.requests', {
    meaning: 'Requests that were answered, or cut before the last byte',
    labels: {
      operation,
      status: 'the HTTP status; `cut` when the client left before the last byte',
      code: 'error code of a refusal, or empty',
      reason: '`details.reason` of a refusal, or empty',
    },
  }),
  duration: histogram('vision.gateway.request.duration', {
    meaning: 'From the head of a request to the last byte of its answer',
    labels: { operation, status_class: ['2xx', '3xx', '4xx', '5xx', 'cut'] },
    buckets: buckets.request,
  }),
  uploads: gauge('vision.gateway.uploads', { meaning: 'Requests with images or a video that are under way' }),
  limitDecisions: counter('vision.gateway.limit.decisions', {
    meaning: 'What the limits decided',
    labels: {
      limit: [
        'requests',
        'image_calls',
        'video_uploads',
        'video_downloads',
        'event_streams',
        'alarm_backtests',
        'stream_probes',
        'processor_time',
      ],
      decision: ['allowed', 'refused'],
    },
  }),
  redisFallbacks: counter('vision.gateway.redis.fallbacks', {
    meaning: 'Decisions made locally because Redis was unavailable. An alarm',
  }),
  keyStoreErrors: counter('vision.gateway.key_store.errors', {
    meaning: 'Keys that could not be checked because the database was unavailable. An alarm',
  }),
  authRefusals: counter('vision.gateway.auth.refusals', {
    meaning: 'Refused credentials',
    labels: {
      reason: [
        'api_key_missing',
        'api_key_invalid',
        'key_invalid',
        'link_invalid',
        'address_throttled',
        'admin_token_invalid',
        'operator_throttled',
      ],
    },
  }),
  connectionsCut: counter('vision.gateway.connections.cut', {
    meaning: 'Connections ended because the client was too slow or had too many',
    labels: { listener: ['public', 'admin'], reason: cutReasons },
  }),
  operatorActs: counter('vision.gateway.operator.acts', {
    meaning: 'Keys created and revoked, maintenance switched',
    labels: { action: ['key.create', 'key.revoke', 'maintenance.set'] },
  }),
  upstreamErrors: counter('vision.gateway.upstream.errors', {
    meaning: 'Requests that a service gave no answer to. An alarm',
    labels: { upstream: ['tasks', 'images', 'results', 'quota', 'notify'] },
  }),
};
