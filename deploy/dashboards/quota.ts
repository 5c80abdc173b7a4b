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
      [query('counters', max('', gauge('vision.quota.differences')))],
      { unit: 'short', red: 1 },
    ),
    number(
      'Differences found by audits',
      'Reservations without a task, and counters without reservations; visionctl audit lists them.',
      [query('{{kind}}', max('kind', gauge('vision.audit.differences', 'kind=~"quota_counter|open_reservation"')))],
      { unit: 'short', red: 1 },
    ),
    number(
      'Oldest open reservation',
      'Units that are held and neither charged nor given back; above an hour somebody should look why.',
      [query('{{kind}}', max('kind', gauge('vision.quota.oldest_reservation_age')))],
      { unit: 's', red: 3600 },
    ),
    number(
      'Repairs by operators',
      'Counters that were set right by hand in the last day; each stands in visionctl audit.',
      [query('repairs', `sum(increase(${gauge('vision.quota.repairs.total')}[1d]))`)],
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
      [query('{{kind}} {{outcome}}', sum('kind, outcome', rate('vision.quota.reserves')))],
      { unit: 'cps' },
    ),
    stack(
      'Reservations closed',
      'Settled units are charged, refunded ones are given back; in the long run both together follow what was granted.',
      [query('{{state}}', sum('state', rate('vision.quota.closings')))],
      { unit: 'cps' },
    ),
    lines(
      'Open reservations',
      'Units that are held at this moment; a line that only grows is refunds that do not arrive.',
      [query('{{kind}}', max('kind', gauge('vision.quota.reservations')))],
      { unit: 'short' },
    ),
    stack(
      'Told by event only',
      'Settlements and refunds for which quota did not answer: they come late, not never.',
      [query('{{call}}', sum('call', rate('vision.images.courtesy.failures')))],
      { unit: 'cps' },
    ),
    lines(
      'Age of events at quota, p95',
      'How late refunds and settlements arrive that go by event.',
      [query('{{type}}', quantile(0.95, 'vision.consumer.event_age', 'type', 'group="quota"'))],
      { unit: 's' },
    ),
    lines(
      'Asking quota, p99',
      'Time of calls to quota, which every create waits for; its limit is 3 s.',
      [
        query(
          '{{service}} {{operation}}',
          quantile(0.99, 'vision.upstream.duration', 'service, operation', 'upstream="quota"'),
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
      [query('{{limit}}', sum('limit', rate('vision.gateway.limit.decisions', 'decision="refused"')))],
      { unit: 'cps' },
    ),
    lines(
      'Share of decisions that refuse',
      'A limit that refuses a large share of what it sees is too low, or one subject does nothing else.',
      [
        query(
          '{{limit}}',
          `${sum('limit', rate('vision.gateway.limit.decisions', 'decision="refused"'))} / ${sum('limit', rate('vision.gateway.limit.decisions'))}`,
        ),
      ],
      { unit: 'percentunit' },
    ),
    lines(
      'Limits counted without Redis',
      'Decisions that replicas made by themselves; meanwhile a subject may do as many times more as there are replicas.',
      [query('decisions', sum('', rate('vision.gateway.redis.fallbacks')))],
      { unit: 'cps' },
    ),
    stack(
      'Redis too slow',
      'Calls to Redis that reached their limit of 250 ms.',
      [
        query(
          '{{operation}} {{outcome}}',
          sum('operation, outcome', recorded('vision.upstream.duration', 'upstream="redis"', TIMED_OUT)),
        ),
      ],
      { unit: 'cps' },
    ),
    stack(
      'Refusals by quota and limits',
      'What callers were told: 429 with these reasons.',
      [query('{{reason}}', sum('reason', rate('vision.gateway.requests', 'code=~"OP-QUOTA-.*"')))],
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
