import { background, doors, inside } from './overview-inside.ts';
import { lines, number, query, stack, table } from './panels.ts';
import type { Dashboard, Section } from './panels.ts';
import { ENDS_BY_ITSELF } from './outcomes.ts';
import { gauge, happened, max, orZero, quantile, rate, sum } from './promql.ts';

const REQUESTS = 'vision_gateway_requests_total';

/** What of the failures that 30 days allow is left, by what the rules have recorded. */
const budgetLeft = (right: string, all: string, budget: string, by: string) =>
  `1 - (1 - ${over30Days(right, by)} / ${over30Days(all, by)}) / ${budget}`;

const over30Days = (series: string, by: string) => sum(by, `avg_over_time(${gauge(series)}[30d])`);

const UP = gauge('up', 'service=~"gateway|tasks|images|results|quota|notify|inference"');
const EXPECTED = gauge('vision:services:expected');

/** Services tell which there should be; when none is left to tell, all are gone. */
export const SERVICES_GONE = `${orZero(`count(${EXPECTED} unless on (namespace, service) (${UP} == 1))`, `count(${EXPECTED})`)} or 7 * absent(${EXPECTED})`;

const FIRING = 'alertname=~"Vision.+",alertname!="VisionWatchdog",alertstate="firing"';

const status: Section = {
  title: 'Is it up?',
  panels: [
    number(
      'Services without a replica',
      'Services of which Prometheus reads no replica, those without any target included, 7 when it reads nothing at all; anything but 0 is an outage.',
      [query('gone', SERVICES_GONE)],
      { unit: 'short', red: 1, width: 4 },
    ),
    number(
      'Replicas that are read',
      'Replicas of each service that give their metrics now, ready or not; red is none. Kubernetes tells which are ready: kubectl get pods.',
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

export const overview: Dashboard = {
  name: 'overview',
  title: 'service overview',
  about:
    'Is the service well? Status and promises first, then what changed, what callers see, what happens inside, whether the work in the background goes on, and who is kept out.',
  sections: [status, promise, changes, asked, inside, background, doors],
};
