import type { AlertCase } from './cases.ts';
import { happening } from './happening.ts';
import { growing, steady, together, values } from './series.ts';

const gaps = (reason: string) => `vision_consumer_gaps_total{group="tasks",reason="${reason}"}`;
const shortage = 'vision_inference_shortages_total{at="attempt",reason="no_local_space"}';
const refusedCalls = 'vision_service_calls_refused_total{service="quota",caller="",operation="",reason="expired"}';
const upstreamErrors = 'vision_gateway_upstream_errors_total{upstream="tasks"}';
const crashes = 'vision_consumer_crashes_total{group="tasks"}';
const waiting = 'vision_db_pool_connections{service="tasks",pod="a",state="waiting"}';
const busy = 'nodejs_eventloop_time_seconds_total{service="images",pod="a",nodejs_eventloop_state="active"}';
const refusedCreates = 'vision_tasks_creates_total{kind="stream",outcome="inference_no_capacity"}';
const throttled = 'vision_gateway_auth_refusals_total{reason="address_throttled"}';

/** Percents in use, of 100. */
const full = (what: string, percents: string) =>
  together(
    values(`vision_process_${what}_bytes{service="images",pod="a",kind="used"}`, percents),
    steady(`vision_process_${what}_bytes{service="images",pod="a",kind="limit"}`, 100, 30),
  );

/** Alerts about single events, and about causes. */
export const causeCases: Record<string, AlertCase> = {
  VisionJobsVanish: happening('vision_tasks_alarms_total{name="vanished"}', {}, 'The backend has lost a job'),
  VisionManyJobsVanish: happening(
    'vision_tasks_alarms_total{name="mass_vanishing"}',
    {},
    'The backend has lost many jobs at once',
  ),
  VisionRecordsLost: happening(gaps('removed'), { group: 'tasks' }, 'tasks misses records'),
  VisionCommitsLost: happening(
    'vision_consumer_rewinds_total{group="tasks"}',
    { group: 'tasks' },
    'The database of tasks has lost commits; their records are read again',
  ),
  VisionOffsetsReset: happening(
    'vision_consumer_offset_resets_total{service="tasks"}',
    { service: 'tasks' },
    'A position of tasks in Kafka was out of range',
  ),
  VisionQuotaDifference: {
    atMinute: 9,
    fires: {
      when: steady('vision_quota_differences{pod="a"}', 2, 10),
      summary: '2 counters of quota differ from the ledger',
    },
    stays: { 'a counter that was repaired': values('vision_quota_differences{pod="a"}', '2x3 0x7') },
  },
  VisionServiceUnavailable: {
    atMinute: 15,
    fires: {
      when: growing(upstreamErrors, 3, 20),
      labels: { upstream: 'tasks' },
      summary: 'tasks does not answer the gateway',
    },
    stays: { 'three requests while a replica is replaced': values(upstreamErrors, '0x5 3x15') },
  },
  VisionKeyStoreAway: {
    atMinute: 10,
    fires: {
      when: growing('vision_gateway_key_store_errors_total', 4, 15),
      summary: 'The gateway cannot check keys, so it refuses every request',
    },
    stays: { 'no key that could not be checked': steady('vision_gateway_key_store_errors_total', 4, 15) },
  },
  VisionPoolExhausted: {
    atMinute: 15,
    fires: {
      when: steady(waiting, 3, 20),
      labels: { service: 'tasks' },
      summary: 'Work of tasks waits for a connection to its database all the time',
    },
    stays: { 'work that waits for some minutes': values(waiting, '3x8 0x12') },
  },
  VisionCallsRefused: {
    atMinute: 20,
    fires: {
      when: growing(refusedCalls, 6, 25),
      labels: { service: 'quota', reason: 'expired' },
      summary: 'quota refuses calls of other services: expired',
    },
    stays: {
      'a single call': values(refusedCalls, '0x3 1x22'),
      'a call that has an alert of its own': growing(refusedCalls.replace('expired', 'forbidden'), 6, 25),
    },
  },
  VisionConsumerCrashes: {
    atMinute: 20,
    fires: {
      when: values(crashes, '0x4 1x4 2x4 3x8'),
      labels: { group: 'tasks' },
      summary: 'The consumer tasks crashes again and again',
    },
    stays: { 'a broker that was replaced': values(crashes, '0x5 1x15') },
  },
  VisionInferenceShort: {
    atMinute: 30,
    fires: {
      when: growing(shortage, 1, 35),
      labels: { reason: 'no_local_space' },
      summary: 'Inference refuses videos or ends attempts at them: no_local_space',
    },
    stays: { 'a video that did not fit': values(shortage, '0x5 1x30') },
  },
  VisionProcessRestarts: {
    atMinute: 20,
    fires: {
      when: values(busy, '10+10x4 1+10x4 1+10x4 1+10x4'),
      labels: { service: 'images' },
      summary: 'Processes of images end and begin anew',
    },
    stays: {
      'a process that runs': growing(busy, 10, 25),
      'a rollout': together(values(busy, '10+10x8 stale'), growing(busy.replace('"a"', '"b"'), 10, 25)),
    },
  },
  VisionMemoryShort: {
    atMinute: 20,
    fires: {
      when: full('memory', '95x25'),
      labels: { service: 'images' },
      summary: 'A replica of images takes 95% of its memory',
    },
    stays: { 'a peak': full('memory', '95x8 60x17') },
  },
  VisionDiskShort: {
    atMinute: 10,
    fires: {
      when: full('tmp', '95x15'),
      labels: { service: 'images' },
      summary: 'The disk of temporary files of images is 95% full',
    },
    stays: { 'room enough': full('tmp', '80x15') },
  },
  VisionNoCapacity: {
    atMinute: 25,
    fires: {
      when: growing(refusedCreates, 1, 30),
      summary: 'Videos or images are refused because every slot is taken',
    },
    firesToo: {
      'images that inference turns away': {
        when: growing('vision_inference_saturated_total', 1, 30),
        summary: 'Videos or images are refused because every slot is taken',
      },
      'image calls that images turns away': {
        when: growing('vision_gateway_requests_total{operation="x",reason="too_many_calls"}', 1, 30),
        summary: 'Videos or images are refused because every slot is taken',
      },
    },
    stays: { 'a burst': values(refusedCreates, '0x5 4x25') },
  },
  VisionStreamsBehind: {
    atMinute: 20,
    fires: {
      when: steady('vision_jobs_live{pod="a",rate="behind"}', 2, 25),
      summary: '2 live streams get fewer frames than their rate',
    },
    stays: { 'a stream that catches up': values('vision_jobs_live{pod="a",rate="behind"}', '2x10 0x15') },
  },
  VisionKeysGuessed: {
    atMinute: 25,
    fires: {
      when: growing(throttled, 12, 30),
      labels: { reason: 'address_throttled' },
      summary: 'Somebody guesses keys or the admin token: address_throttled',
    },
    stays: { 'a client with an old key': growing(throttled.replace('address_throttled', 'key_invalid'), 12, 30) },
  },
};
