import { absentCases } from './absent-cases.ts';
import { causeCases } from './cause-cases.ts';
import { eventCases } from './event-cases.ts';
import { frameCases } from './frame-cases.ts';
import { loopCases } from './loop-cases.ts';
import { objectiveCases } from './objective-cases.ts';
import { sweepCases } from './sweep-cases.ts';
import { happening, never, once } from './happening.ts';
import { growing, steady, together, values } from './series.ts';
import type { Series } from './series.ts';

interface Fires {
  when: Series;
  /** Labels that the alert carries besides `namespace`, or instead of it. */
  labels?: Record<string, string | undefined>;
  summary: string;
}

export interface AlertCase {
  /** Time at which the alert is evaluated, in minutes. */
  atMinute: number;
  fires: Fires;
  /** Further ways to fire. */
  firesToo?: Record<string, Fires>;
  /** Similar series that must not fire the alert, by description. */
  stays: Record<string, Series>;
}

const calls = (outcome: string, perMinute: number) =>
  growing(
    `vision_upstream_duration_seconds_count{service="images",upstream="inference",operation="detect",outcome="${outcome}"}`,
    perMinute,
    30,
  );
const breaker = (pod: string, state: number) =>
  steady(`circuit_breaker_state{name="inference.submit",pod="${pod}"}`, state, 10);
const held = (pod: string, partitions: number) =>
  steady(`vision_consumer_partitions{group="tasks",topic="vision.frames.v1",pod="${pod}"}`, partitions, 10);

const refused = (reason: string) =>
  `vision_service_calls_refused_total{reason="${reason}",caller="images",operation="listTasks"}`;

/** What fires each alert, and what must not. */
export const cases: Record<string, AlertCase> = {
  ...objectiveCases,
  ...sweepCases,
  ...loopCases,
  ...eventCases,
  ...frameCases,
  ...absentCases,
  ...causeCases,
  VisionJobsWithoutWorker: {
    atMinute: 8,
    fires: { when: steady('vision_jobs_unowned', 2, 10), summary: '2 video jobs wait for a worker' },
    stays: { 'a job that was taken over': values('vision_jobs_unowned', '2x3 0x7') },
  },
  VisionTaskStaysResolving: {
    atMinute: 10,
    fires: {
      when: values('vision_tasks_oldest_resolving_age_seconds', '60+60x10'),
      summary: 'A submission is unknown for 11m 0s',
    },
    stays: { 'a task that was found': values('vision_tasks_oldest_resolving_age_seconds', '60+60x4 0x6') },
  },
  VisionResultsLate: {
    atMinute: 9,
    fires: {
      when: values('vision_tasks_alarms_total{name="results_late"}', '0x5 6x5'),
      summary: 'Tasks end before their frames can be read',
    },
    stays: { 'a single task': once('vision_tasks_alarms_total{name="results_late"}') },
  },
  VisionFramesMissing: {
    atMinute: 7,
    fires: {
      when: together(once('vision_results_holes_total'), never('vision_results_frame_conflicts_total')),
      summary: 'Frames of a task are missing or were not stored',
    },
    stays: {
      'nothing happened': together(never('vision_results_holes_total'), never('vision_results_frame_conflicts_total')),
    },
  },
  VisionSegmentsUnreadable: happening(
    'vision_results_segments_unreadable_total',
    {},
    'Stored frames cannot be read, because the object that holds them is missing or damaged',
  ),
  VisionStopUnconfirmed: happening(
    'vision_tasks_alarms_total{name="stop_unconfirmed"}',
    {},
    'The backend does not confirm a stop',
  ),
  VisionDeadLetters: happening(
    'vision_consumer_dead_letters_total{group="quota"}',
    { group: 'quota' },
    'quota put records aside',
  ),
  VisionAuditDifference: {
    atMinute: 9,
    fires: {
      when: steady('vision_audit_differences{kind="open_reservation",pod="a"}', 1, 10),
      labels: { kind: 'open_reservation' },
      summary: 'An audit found differences: open_reservation',
    },
    stays: { 'a difference that went': values('vision_audit_differences{kind="open_reservation",pod="a"}', '1x3 0x7') },
  },
  VisionUpstreamFails: {
    atMinute: 25,
    fires: {
      when: together(calls('ok', 18), calls('headers_timeout', 2)),
      labels: { service: 'images', upstream: 'inference' },
      summary: '10% of the calls of images to inference time out or fail',
    },
    stays: {
      'a few of many': together(calls('ok', 99), calls('headers_timeout', 1)),
      'refusals by a healthy upstream': together(calls('ok', 10), calls('answered_4xx', 10)),
      'clients that left': together(calls('ok', 10), calls('client_left', 10), calls('canceled', 10)),
    },
  },
  VisionBreakerOpen: {
    atMinute: 5,
    fires: {
      when: together(breaker('a', 2), breaker('b', 2), breaker('c', 0)),
      labels: { name: 'inference.submit' },
      summary: 'The circuit breaker inference.submit is open on most replicas',
    },
    stays: { 'one replica of three': together(breaker('a', 2), breaker('b', 0), breaker('c', 1)) },
  },
  VisionOutboxOld: {
    atMinute: 6,
    fires: {
      when: values('vision_outbox_oldest_age_seconds{service="tasks"}', '0+60x10'),
      labels: { service: 'tasks' },
      summary: 'An event of tasks waits for Kafka since 6m 0s',
    },
    stays: { 'a broker that was replaced': values('vision_outbox_oldest_age_seconds{service="tasks"}', '0 40 0x10') },
  },
  VisionNobodyConsumes: {
    atMinute: 8,
    fires: {
      when: together(held('a', 0), held('b', 0)),
      labels: { group: 'tasks', topic: 'vision.frames.v1' },
      summary: 'The group tasks has no consumer of vision.frames.v1',
    },
    stays: { 'a replica that stands by': together(held('a', 6), held('b', 0)) },
  },
  VisionRedisAway: {
    atMinute: 12,
    fires: {
      when: growing('vision_gateway_redis_fallbacks_total', 30, 15),
      summary: 'Redis is away; each gateway counts limits for itself',
    },
    stays: { 'a single slow answer': values('vision_gateway_redis_fallbacks_total', '0x3 1x12') },
  },
  VisionSegmentsUnverified: {
    atMinute: 15,
    fires: {
      when: steady('vision_results_oldest_unverified_segment_age_seconds', 4_000, 20),
      summary: 'Objects of frames were not read back for over an hour; their frames stay in the database',
    },
    stays: {
      'a store that was away for ten minutes': values('vision_results_oldest_unverified_segment_age_seconds', '700x20'),
    },
  },
  VisionNoWall: {
    atMinute: 2,
    fires: {
      when: steady('vision_inference_sandbox{wall="none",pod="a"}', 1, 5),
      labels: { pod: 'a' },
      summary: 'Decoders of a have no sandbox',
    },
    stays: { 'a wall': steady('vision_inference_sandbox{wall="landlock",pod="a"}', 1, 5) },
  },
  VisionForbiddenCall: {
    atMinute: 7,
    fires: {
      when: values(refused('forbidden'), '_x5 1x5'),
      labels: { caller: 'images', operation: 'listTasks' },
      summary: 'images called listTasks, which it may not',
    },
    stays: {
      'a call with an expired token': values(refused('expired'), '_x5 1x5'),
      'a call of yesterday': steady(refused('forbidden'), 1, 10),
    },
  },
};
