import { COUNTS, ENDS_BY_ITSELF, FAILED, TIMED_OUT, TRACE_TIMED_OUT } from './outcomes.ts';
import { heatmap, lines, number, query, stack, states, table } from './panels.ts';
import type { Dashboard, Section } from './panels.ts';
import {
  avg,
  buckets,
  gauge,
  happened,
  happening,
  max,
  orZero,
  quantile,
  quantileOfRare,
  rate,
  share,
  sum,
} from './promql.ts';

const CALLS = 'vision_upstream_duration_seconds';
const REQUESTS = 'vision_gateway_requests_total';
const CHOSEN = ['upstream=~"$upstream"', 'service=~"$service"'];
const SERVER_ERROR = 'status=~"5.."';

const counted = (matcher: string) => happening(`${CALLS}_count`, matcher, ...CHOSEN);
const calls = (by: string) => sum(by, counted(COUNTS));
const failures = (by: string) => sum(by, counted(FAILED));
const timeouts = (by: string) => sum(by, counted(TIMED_OUT));
const failedRequests = (by: string) => sum(by, happening(REQUESTS, SERVER_ERROR));

const tracesOfUpstream = `{ span.app.upstream.name = "\${__field.labels.upstream}" && ${TRACE_TIMED_OUT} }`;
const tracesOfOperation =
  '{ resource.service.name = "gateway" && span.app.operation = "${__field.labels.operation}" && span.http.response.status_code >= 500 }';

const hurt: Section = {
  title: 'Is anyone hurt?',
  panels: [
    number(
      'Requests that fail',
      'The share of all requests that are answered with 5xx now; the objective allows 0.1 % in 30 days.',
      [query('failing', share(failedRequests(''), sum('', happening(REQUESTS))))],
      { unit: 'percentunit', red: 0.001 },
    ),
    number(
      'Calls that time out',
      'How many calls of any service to any upstream reached a limit of time in the last minutes; 0 on a good day.',
      [query('timeouts', orZero(timeouts(''), calls('')))],
      { unit: 'short', red: 1 },
    ),
    number(
      'Calls that fail in any way',
      'The share of calls to upstreams that time out, are refused, break off or cannot be read.',
      [query('failing', share(failures(''), calls('')))],
      { unit: 'percentunit', red: 0.01 },
    ),
    number(
      'Open breakers',
      'Circuit breakers of single replicas that let no call through now.',
      [query('open', sum('', `${gauge('circuit_breaker_state')} == bool 2`))],
      { unit: 'short', red: 1 },
    ),
  ],
};

const which: Section = {
  title: 'Which operation, which upstream, which kind?',
  panels: [
    stack(
      'Failing requests by operation',
      'What callers asked for when they got a 5xx, counted in each step; a line leads to the traces of that operation.',
      [query('{{operation}}', failedRequests('operation'))],
      { unit: 'short', traces: tracesOfOperation },
    ),
    stack(
      'Timeouts by upstream',
      'Upstreams that did not answer in time, for all callers, per step; a line leads to the late traces.',
      [query('{{upstream}}', timeouts('upstream'))],
      { unit: 'short', traces: tracesOfUpstream },
    ),
    stack(
      'Failures by kind',
      'What was waited for: pool and queue timeouts are our own congestion, connect points at the network or a dead peer, headers and body at a slow one.',
      [query('{{outcome}}', failures('outcome'))],
      { unit: 'short', traces: '{ span.app.call.outcome = "${__field.labels.outcome}" }' },
    ),
    table(
      'Calls that failed most',
      'Who asked whom for what, and how it ended, counted over the time shown; the first row is where to begin.',
      [
        query(
          '',
          `topk(20, ${sum('service, upstream, operation, outcome', happened(`${CALLS}_count`, FAILED, ...CHOSEN))} > 0)`,
        ),
      ],
      { unit: 'short', width: 12 },
    ),
    table(
      'Errors that callers got',
      'Codes and reasons of refusals with 5xx over the time shown; docs/operations.md leads from a code to what to do.',
      [query('', `topk(20, ${sum('operation, code, reason', happened(REQUESTS, SERVER_ERROR))} > 0)`)],
      { unit: 'short', width: 12 },
    ),
  ],
};

const since: Section = {
  title: 'Since when?',
  panels: [
    states(
      'Upstreams with timeouts',
      'Red from the moment at which calls to an upstream began to time out; what turned red first is the likely cause of the others.',
      [query('{{upstream}}', orZero(timeouts('upstream'), calls('upstream')))],
      { unit: 'cps', width: 12, traces: tracesOfUpstream },
    ),
    lines(
      'Share of calls that fail',
      'One line for each pair of services: a pair that fails alone points at the network between the two, all pairs of one upstream point at the upstream.',
      [query('{{service}} → {{upstream}}', share(failures('service, upstream'), calls('service, upstream')))],
      { unit: 'percentunit', width: 12, traces: tracesOfUpstream },
    ),
  ],
};

const where: Section = {
  title: 'Where does the time go?',
  panels: [
    lines(
      'p99 as a share of the limit',
      'The ten kinds of calls that come nearest to their limit of time: a line that climbs towards 1 is a timeout that has not happened yet. Streams and downloads, which last as long as their reader, are left out.',
      [
        query(
          '{{upstream}} {{operation}}',
          `topk(10, ${quantileOfRare(0.99, CALLS, 'upstream, operation', ENDS_BY_ITSELF, ...CHOSEN)} / on (upstream, operation) ${max('upstream, operation', gauge('vision_upstream_limit_seconds', ...CHOSEN))})`,
        ),
      ],
      { unit: 'percentunit', width: 12, traces: tracesOfUpstream },
    ),
    heatmap(
      'Time of calls to the chosen upstreams',
      'Dark bands are where most calls end; a second band at a limit is a part of the calls that hangs. Choose one upstream above.',
      [query('{{le}}', buckets(CALLS, ...CHOSEN))],
      { unit: 's', width: 12 },
    ),
    lines(
      'Time of calls to $upstream, p99, and their limits',
      'The slowest calls of each kind beside the limit in force, one panel for each upstream; where they meet, calls are cut.',
      [
        query('{{operation}} p99', quantileOfRare(0.99, CALLS, 'operation', ENDS_BY_ITSELF, ...CHOSEN)),
        query(
          '{{operation}} limit',
          max('operation', gauge('vision_upstream_limit_seconds', ENDS_BY_ITSELF, ...CHOSEN)),
        ),
      ],
      { unit: 's', width: 24, repeat: 'upstream' },
    ),
  ],
};

const us: Section = {
  title: 'Is it us or them?',
  panels: [
    lines(
      'Event loop delay, p99',
      'Delay of our own event loops: above 100 ms a timeout may be caused by our process, not by the named upstream.',
      [query('{{service}}', max('service', gauge('nodejs_eventloop_delay_p99_seconds', 'service=~"$service"')))],
      { unit: 's' },
    ),
    lines(
      'Waiting for a database connection, p95',
      'Time in the queue of the pool before a statement begins; anything above a few milliseconds is a pool that is too small or statements that are too slow.',
      [query('{{service}}', quantile(0.95, 'vision_db_pool_wait_seconds', 'service', 'service=~"$service"'))],
      { unit: 's' },
    ),
    lines(
      'Images at inference per slot',
      'Above 1 an image is rejected; near 1 the queue itself uses up the limit of the caller.',
      [query('share', `${sum('', gauge('vision_inference_load'))} / ${sum('', gauge('vision_inference_places'))}`)],
      { unit: 'percentunit' },
    ),
    states(
      'Breakers that are open',
      'Red while more than half of the replicas send no calls there.',
      [query('{{name}}', `${avg('name', `${gauge('circuit_breaker_state')} == bool 2`)} > bool 0.5`)],
      { unit: 'percentunit', width: 12 },
    ),
    stack(
      'Calls refused by a breaker',
      'Calls that were not made because those before them failed; they say nothing about the upstream of this moment.',
      [query('{{name}}', sum('name', rate('circuit_breaker_calls_total', 'outcome="rejected"')))],
      { unit: 'cps', width: 12 },
    ),
  ],
};

const whom: Section = {
  title: 'For whom?',
  panels: [
    {
      shows: 'logs',
      title: 'Subjects whose requests failed',
      reads:
        'How many 5xx each subject got over the time shown, from the log of the gateway; one subject alone points at what it sends.',
      query:
        'topk(20, sum by (subject, operation) (count_over_time({service_name="gateway"} | status >= 500 [$__range])))',
      width: 8,
    },
    {
      shows: 'traces',
      title: 'Calls that timed out',
      reads:
        'The last traces in which a limit of time was reached; the red span names the upstream, its limit and the time spent.',
      query: `{ ${TRACE_TIMED_OUT} } | select(span.app.upstream.name, span.error.type, span.app.timeout.limit_ms, span.app.upstream.spent_ms)`,
      width: 16,
    },
  ],
};

export const upstreamTimeouts: Dashboard = {
  name: 'upstream-timeouts',
  title: 'upstream timeouts',
  about:
    'Why did a call time out? Read from the top: who is hurt, whom we waited for, since when, where the time went, and whether it was us.',
  choices: [
    { name: 'upstream', metric: 'vision_upstream_duration_seconds_count' },
    { name: 'service', metric: 'vision_upstream_duration_seconds_count' },
  ],
  sections: [hurt, which, since, where, us, whom],
};
