import { lines, number, query, stack, table } from './panels.ts';
import type { Dashboard, Section } from './panels.ts';
import { ENDS_BY_ITSELF, FAILED } from './outcomes.ts';
import { gauge, happened, max, orZero, quantile, rate, recorded, sum } from './promql.ts';

const REQUESTS = 'vision_gateway_requests_total';

/** What of the failures that 30 days allow is left, by what the rules have recorded. */
const budgetLeft = (right: string, all: string, budget: string, by: string) =>
  `1 - (1 - ${over30Days(right, by)} / ${over30Days(all, by)}) / ${budget}`;

const over30Days = (series: string, by: string) => sum(by, `avg_over_time(${gauge(series)}[30d])`);

const UP = gauge('up', 'service=~"gateway|tasks|images|results|quota|notify|inference"');
const FIRING = 'alertname=~"Vision.+",alertname!="VisionWatchdog",alertstate="firing"';

const status: Section = {
  title: 'Is it up?',
  panels: [
    number(
      'Services without a replica',
      'Services of which Prometheus reads no replica, those without any target included; anything but 0 is an outage.',
      [
        query(
          'gone',
          orZero(
            `count(${gauge('vision:services:expected')} unless on (namespace, service) (${UP} == 1))`,
            `count(${gauge('vision:services:expected')})`,
          ),
        ),
      ],
      { unit: 'short', red: 1, width: 4 },
    ),
    number(
      'Replicas that are read',
      'Replicas of each service that give their metrics now; red is none.',
      [query('{{service}}', sum('service', UP))],
      { unit: 'short', least: 1, width: 8 },
    ),
    number(
      'Critical alerts',
      'Alerts that somebody has to get up for; the table beside it names them.',
      [query('critical', `count(${gauge('ALERTS', FIRING, 'severity="critical"')}) or vector(0)`)],
      { unit: 'short', red: 1, width: 4 },
    ),
    number(
      'Restarts of processes',
      'Processes that ended and began anew in their pods over the time shown; a rollout makes new pods and counts nothing.',
      [
        query(
          '{{service}}',
          sum(
            'service',
            `resets(${gauge('nodejs_eventloop_time_seconds_total', 'nodejs_eventloop_state="active"')}[$__range])`,
          ),
        ),
      ],
      { unit: 'short', red: 1, width: 8 },
    ),
  ],
};

const changes: Section = {
  title: 'What fires, what runs, what was done?',
  panels: [
    table(
      'Alerts that fire',
      'Each has a page in docs/runbooks, with the first command on top.',
      [query('', `max by (alertname, severity, service, group) (${gauge('ALERTS', FIRING)})`)],
      { unit: 'short', width: 8 },
    ),
    table(
      'What runs',
      'Replicas by service, release and commit; two side by side are a rollout.',
      [query('', `count by (service, version, commit, node) (${gauge('vision_build_info')})`)],
      { unit: 'short', width: 8 },
    ),
    table(
      'Acts of operators',
      'Keys made and revoked, and maintenance switched, over the time shown.',
      [query('', `${sum('action', happened('vision_gateway_operator_acts_total'))} > 0`)],
      { unit: 'short', width: 8 },
    ),
  ],
};

const promise: Section = {
  title: 'Do we keep what docs/slo.md promises?',
  panels: [
    number(
      'Budget of answers left',
      'What is left of the failures that 30 days allow, by class of operation: below 0 the objective is missed, 1 is untouched.',
      [
        query(
          '{{class}}',
          budgetLeft(
            'vision:answers:right5m',
            'vision:answers:rate5m',
            max('class', gauge('vision:answers:budget')),
            'class',
          ),
        ),
      ],
      { unit: 'percentunit', least: 0, enough: 0.25, width: 16 },
    ),
    number(
      'Budget of frames left',
      'The same for frames of live streams that could be read in time.',
      [query('frames', budgetLeft('vision:frames:timely5m', 'vision:frames:rate5m', '0.01', ''))],
      { unit: 'percentunit', least: 0, enough: 0.25, width: 8 },
    ),
  ],
};

const asked: Section = {
  title: 'What is asked, and what is answered?',
  panels: [
    stack(
      'Requests by operation',
      'Requests of callers; a gap means that the gateway is not reachable.',
      [query('{{operation}}', sum('operation', rate(REQUESTS)))],
      { unit: 'reqps' },
    ),
    stack(
      'Answers by status',
      '5xx are ours, 4xx are refusals with a reason, "cut" are clients that left before the last byte.',
      [query('{{status}}', sum('status', rate(REQUESTS)))],
      { unit: 'reqps' },
    ),
    lines(
      'Time to the last byte, p95',
      'By operation, without streams and downloads; creates with a body include the time in which the caller sends it.',
      [query('{{operation}}', quantile(0.95, 'vision_gateway_request_duration_seconds', 'operation', ENDS_BY_ITSELF))],
      {
        unit: 's',
        traces:
          '{ resource.service.name = "gateway" && span.app.operation = "${__field.labels.operation}" && duration > 1s }',
      },
    ),
    table(
      'Refusals',
      'Every code and reason that callers got over the time shown, most frequent first; docs/operations.md leads from here to what to do.',
      [query('', `topk(25, ${sum('operation, status, code, reason', happened(REQUESTS, 'code!=""'))} > 0)`)],
      { unit: 'short', width: 16 },
    ),
    lines(
      'Uploads under way',
      'Videos and images that are being sent to the gateway now.',
      [query('{{pod}}', sum('pod', gauge('vision_gateway_uploads')))],
      { unit: 'short' },
    ),
  ],
};

const inside: Section = {
  title: 'What happens inside?',
  panels: [
    stack(
      'Failing calls by upstream',
      'Calls of all services that ended without a usable answer; the dashboard "upstream timeouts" takes them apart.',
      [query('{{upstream}}', sum('upstream', recorded('vision_upstream_duration_seconds', FAILED)))],
      { unit: 'cps', traces: '{ span.app.upstream.name = "${__field.labels.upstream}" && status = error }' },
    ),
    stack(
      'Images by outcome',
      "Images of finished calls: OP-TASK-REQUEST-INVALID is the sender's image, the other codes are ours.",
      [query('{{outcome}}', sum('outcome', rate('vision_images_images_total')))],
      { unit: 'cps' },
    ),
    lines(
      'Time of image calls',
      'From the whole upload to the stored result; limits are 20 s an image and 80 s a call.',
      [
        query('p50', quantile(0.5, 'vision_images_call_duration_seconds', '')),
        query('p95', quantile(0.95, 'vision_images_call_duration_seconds', '')),
        query('p99', quantile(0.99, 'vision_images_call_duration_seconds', '')),
      ],
      { unit: 's' },
    ),
    lines(
      'Tasks that have not ended',
      'Video tasks by status; "resolving" should return to 0 within a minute.',
      [query('{{status}}', max('status', gauge('vision_tasks_active')))],
      { unit: 'short' },
    ),
    lines(
      'Oldest event in an outbox',
      'How long an event waits for Kafka; above 30 s an alert fires, and effects come late by as much.',
      [query('{{service}}', max('service', gauge('vision_outbox_oldest_age_seconds')))],
      { unit: 's' },
    ),
    lines(
      'Differences that audits found',
      'Things that must agree and do not; anything but 0 is looked at with visionctl audit.',
      [query('{{kind}}', max('kind', gauge('vision_audit_differences')))],
      { unit: 'short' },
    ),
  ],
};

const doors: Section = {
  title: 'Who is kept out?',
  panels: [
    stack(
      'Refused credentials',
      'Wrong or missing keys by reason; a wave is somebody guessing or a client that lost its key.',
      [query('{{reason}}', sum('reason', rate('vision_gateway_auth_refusals_total')))],
      { unit: 'cps' },
    ),
    stack(
      'Connections cut',
      'Clients that were too slow or held too many connections.',
      [query('{{listener}} {{reason}}', sum('listener, reason', rate('vision_gateway_connections_cut_total')))],
      { unit: 'cps' },
    ),
    stack(
      'Refused calls between services',
      'Anything here is a wrong key, a wrong clock or somebody inside the network; "forbidden" fires an alert.',
      [query('{{reason}} {{caller}}', sum('reason, caller', rate('vision_service_calls_refused_total')))],
      { unit: 'cps' },
    ),
  ],
};

export const overview: Dashboard = {
  name: 'overview',
  title: 'service overview',
  about:
    'Is the service well? Status and promises first, then what changed, what callers see, what happens inside, and who is kept out.',
  sections: [status, promise, changes, asked, inside, doors],
};
