import { lines, number, query, stack } from './panels.ts';
import type { Dashboard, Section } from './panels.ts';
import { TIMED_OUT } from './outcomes.ts';
import { gauge, max, quantile, rate, recorded, sum } from './promql.ts';

const money: Section = {
  title: 'Is the ledger right?',
  panels: [
    number(
      'Counters that differ',
      'Counters that did not agree with their reservations at the last verification; anything but 0 is a wrong balance.',
      [query('counters', max('', gauge('vision_quota_differences')))],
      { unit: 'short', red: 1 },
    ),
    number(
      'Differences found by audits',
      'Reservations without a task, and counters without reservations; visionctl audit lists them.',
      [query('{{kind}}', max('kind', gauge('vision_audit_differences', 'kind=~"quota_counter|open_reservation"')))],
      { unit: 'short', red: 1 },
    ),
    number(
      'Oldest open reservation',
      'Units that are held and neither charged nor given back; above an hour somebody should look why.',
      [query('{{kind}}', max('kind', gauge('vision_quota_oldest_reservation_age_seconds')))],
      { unit: 's', red: 3600 },
    ),
    number(
      'Repairs by operators',
      'Counters that were set right by hand in the last day; each stands in visionctl audit.',
      [query('repairs', `sum(increase(${gauge('vision_quota_repairs_total')}[1d]))`)],
      { unit: 'short' },
    ),
  ],
};

const units: Section = {
  title: 'What becomes of units?',
  panels: [
    stack(
      'Units asked for',
      '"exhausted" are subjects at the end of their day, "conflict" a key that was used for something else.',
      [query('{{kind}} {{outcome}}', sum('kind, outcome', rate('vision_quota_reserves_total')))],
      { unit: 'cps' },
    ),
    stack(
      'Reservations closed',
      'Settled units are charged, refunded ones are given back; in the long run both together follow what was granted.',
      [query('{{state}}', sum('state', rate('vision_quota_closings_total')))],
      { unit: 'cps' },
    ),
    lines(
      'Open reservations',
      'Units that are held at this moment; a line that only grows is refunds that do not arrive.',
      [query('{{kind}}', max('kind', gauge('vision_quota_reservations')))],
      { unit: 'short' },
    ),
    stack(
      'Told by event only',
      'Settlements and refunds for which quota did not answer: they come late, not never.',
      [query('{{call}}', sum('call', rate('vision_images_courtesy_failures_total')))],
      { unit: 'cps' },
    ),
    lines(
      'Age of events at quota, p95',
      'How late refunds and settlements arrive that go by event.',
      [query('{{type}}', quantile(0.95, 'vision_consumer_event_age_seconds', 'type', 'group="quota"'))],
      { unit: 's' },
    ),
    lines(
      'Asking quota, p99',
      'Time of calls to quota, which every create request waits for; its limit is 3 s.',
      [
        query(
          '{{service}} {{operation}}',
          quantile(0.99, 'vision_upstream_duration_seconds', 'service, operation', 'upstream="quota"'),
        ),
      ],
      { unit: 's', traces: '{ span.app.upstream.name = "quota" && duration > 500ms }' },
    ),
  ],
};

const limits: Section = {
  title: 'Whom do limits stop?',
  panels: [
    stack(
      'Refused by limits',
      'Decisions against a caller by limit: requests are a rate, calls and uploads a number at once, processor_time the cost of pictures.',
      [query('{{limit}}', sum('limit', rate('vision_gateway_limit_decisions_total', 'decision="refused"')))],
      { unit: 'cps' },
    ),
    lines(
      'Share of decisions that refuse',
      'A limit that refuses a large share of what it sees is too low, or one subject does nothing else.',
      [
        query(
          '{{limit}}',
          `${sum('limit', rate('vision_gateway_limit_decisions_total', 'decision="refused"'))} / ${sum('limit', rate('vision_gateway_limit_decisions_total'))}`,
        ),
      ],
      { unit: 'percentunit' },
    ),
    lines(
      'Limits counted without Redis',
      'Decisions that replicas made by themselves; meanwhile a subject may do as many times more as there are replicas.',
      [query('decisions', sum('', rate('vision_gateway_redis_fallbacks_total')))],
      { unit: 'cps' },
    ),
    stack(
      'Redis too slow',
      'Calls to Redis that reached their limit of 250 ms.',
      [
        query(
          '{{operation}} {{outcome}}',
          sum('operation, outcome', recorded('vision_upstream_duration_seconds', 'upstream="redis"', TIMED_OUT)),
        ),
      ],
      { unit: 'cps' },
    ),
    stack(
      'Refusals by quota and limits',
      'Responses with 429 by these reasons.',
      [query('{{reason}}', sum('reason', rate('vision_gateway_requests_total', 'code=~"OP-QUOTA-.*"')))],
      { unit: 'reqps' },
    ),
    {
      shows: 'logs',
      title: 'Subjects at a limit',
      reads: 'How often each subject was refused over the time shown, from the log of the gateway.',
      query:
        'topk(20, sum by (subject, limit) (count_over_time({service_name="gateway"} |= "a caller has reached a limit" [$__range])))',
    },
  ],
};

export const quota: Dashboard = {
  name: 'quota',
  title: 'quota and limits',
  about: 'Is the ledger right, what becomes of units, and whom do limits stop?',
  sections: [money, units, limits],
};
