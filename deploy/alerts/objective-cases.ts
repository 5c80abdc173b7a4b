import type { AlertCase } from './cases.ts';
import { growing, together, values } from './series.ts';
import type { Series } from './series.ts';

const HOUR = 60;
const EIGHT_HOURS = 8 * HOUR;

/** Answers to one operation, a minute: right and in time, right but late, wrong. */
function answers(operation: string, { right = 0, late = 0, wrong = 0 }: Partial<Answered>, minutes: number): Series {
  const of = (kind: string, statusClass: string, more = '') =>
    `vision_gateway_request_duration_seconds_${kind}{operation="${operation}",status_class="${statusClass}"${more}}`;
  return together(
    growing(of('bucket', '2xx', ',le="1"'), right, minutes),
    growing(of('bucket', '2xx', ',le="+Inf"'), right + late, minutes),
    growing(of('count', '2xx'), right + late, minutes),
    growing(of('bucket', '5xx', ',le="1"'), wrong, minutes),
    growing(of('count', '5xx'), wrong, minutes),
  );
}

interface Answered {
  right: number;
  late: number;
  wrong: number;
}

/** Frames of live streams that become readable in time and late, a minute. */
const frames = (inTime: number, late: number, minutes: number) =>
  together(
    growing('vision_results_readable_age_seconds_bucket{kind="live",le="5"}', inTime, minutes),
    growing('vision_results_readable_age_seconds_count{kind="live"}', inTime + late, minutes),
  );

const pictures = (outcome: string, perMinute: number, minutes: number) =>
  growing(`vision_images_images_total{outcome="${outcome}"}`, perMinute, minutes);

/** Nothing was right for 40 minutes; since then everything is. */
const over = together(
  values(
    'vision_gateway_request_duration_seconds_bucket{operation="getTask",status_class="2xx",le="1"}',
    '0x40 0+60x30',
  ),
  values('vision_gateway_request_duration_seconds_count{operation="getTask",status_class="2xx"}', '0x40 0+60x30'),
  values('vision_gateway_request_duration_seconds_count{operation="getTask",status_class="5xx"}', '0+60x40 2400x30'),
);

/** The two objectives of docs/slo.md, burning fast, less fast and slowly. */
export const objectiveCases: Record<string, AlertCase> = {
  VisionAnswersFailFast: {
    atMinute: 70,
    fires: {
      when: answers('getTask', { right: 48, wrong: 12 }, 75),
      labels: { class: 'read' },
      summary: '20% of the answers of an hour (read) were wrong or late',
    },
    stays: {
      'a share that is no hurry': answers('getTask', { right: 594, wrong: 6 }, 75),
      'an outage that is over': over,
      'four failures in a quiet hour': together(
        answers('getTask', { right: 0.2 }, 75),
        values('vision_gateway_request_duration_seconds_count{operation="getTask",status_class="5xx"}', '0x66 4x10'),
      ),
      'clients that left': together(
        answers('getTask', { right: 30 }, 75),
        growing('vision_gateway_request_duration_seconds_count{operation="getTask",status_class="cut"}', 30, 75),
      ),
      'announced maintenance': together(
        answers('createStreamTask', { wrong: 60 }, 75),
        growing(
          'vision_gateway_requests_total{operation="createStreamTask",status="503",reason="maintenance"}',
          60,
          75,
        ),
      ),
      'pictures that cannot be read': together(
        pictures('succeeded', 30, 75),
        pictures('OP-TASK-REQUEST-INVALID', 30, 75),
      ),
    },
  },
  VisionAnswersFail: {
    atMinute: 7 * HOUR,
    fires: {
      when: answers('getResults', { right: 99, late: 1 }, EIGHT_HOURS),
      labels: { class: 'read' },
      summary: '1% of the answers of six hours (read) were wrong or late',
    },
    stays: { 'half of what may fail': answers('getResults', { right: 1998, wrong: 1 }, EIGHT_HOURS) },
  },
  VisionAnswersFailSlowly: {
    atMinute: EIGHT_HOURS - 1,
    fires: {
      when: together(pictures('succeeded', 99, EIGHT_HOURS), pictures('OP-TASK-UPSTREAM-DOWN', 1, EIGHT_HOURS)),
      labels: { class: 'picture' },
      summary: '1% of the answers of three days (picture) were wrong or late',
    },
    stays: {
      'half of what may fail': together(
        pictures('succeeded', 399, EIGHT_HOURS),
        pictures('OP-TASK-UPSTREAM-DOWN', 1, EIGHT_HOURS),
      ),
    },
  },
  VisionFramesLateFast: {
    atMinute: 70,
    fires: {
      when: frames(80, 20, 75),
      summary: '20% of the live frames of an hour were stored by results more than 5 s after their capture',
    },
    stays: { 'a share that is no hurry': frames(95, 5, 75) },
  },
  VisionFramesLate: {
    atMinute: 7 * HOUR,
    fires: {
      when: frames(92, 8, EIGHT_HOURS),
      summary: '8% of the live frames of six hours were stored by results more than 5 s after their capture',
    },
    stays: { 'a share that can wait': frames(98, 2, EIGHT_HOURS) },
  },
  VisionFramesLateSlowly: {
    atMinute: EIGHT_HOURS - 1,
    fires: {
      when: frames(98, 2, EIGHT_HOURS),
      summary: '2% of the live frames of three days were stored by results more than 5 s after their capture',
    },
    stays: { 'half of what may be late': frames(199, 1, EIGHT_HOURS) },
  },
};
