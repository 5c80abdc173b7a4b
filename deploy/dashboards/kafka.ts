import { lines, number, query, stack } from './panels.ts';
import type { Dashboard, Section } from './panels.ts';
import { FAILED } from './outcomes.ts';
import { gauge, growth, max, quantile, rate, recorded, sum } from './promql.ts';

const group = 'group';

const safe: Section = {
  title: 'Is anything lost or stuck?',
  panels: [
    number(
      'Waiting longest',
      'How long effects wait for Kafka; an alert fires at 30 s.',
      [query('{{service}}', max('service', gauge('vision_outbox_oldest_age_seconds')))],
      { unit: 's', red: 30, width: 8 },
    ),
    number(
      'Dead letters',
      'Records in dead letter topics since the time shown began; each waits for visionctl dlq.',
      [query('{{group}}', sum(group, growth('vision_consumer_dead_letters_total')))],
      { unit: 'short', red: 1, width: 12 },
    ),
    number(
      'Gone unread',
      'Times that records were removed before they were handled, or a database lost commits; the log says in which group.',
      [
        query('gaps', sum('', growth('vision_consumer_gaps_total'))),
        query('rewinds', sum('', growth('vision_consumer_rewinds_total'))),
      ],
      { unit: 'short', red: 1, width: 4 },
    ),
  ],
};

const out: Section = {
  title: 'Do events leave?',
  panels: [
    lines(
      'Oldest event in an outbox',
      'Told by the active relay of each service; a line that ends is a relay that hangs or is gone.',
      [query('{{service}}', max('service', gauge('vision_outbox_oldest_age_seconds')))],
      { unit: 's' },
    ),
    lines(
      'Events seen waiting',
      'Events of one round, 200 at most: at 200 the relay is behind.',
      [query('{{service}}', max('service', gauge('vision_outbox_waiting')))],
      { unit: 'short' },
    ),
    lines(
      'Sending to Kafka, p99',
      'Time of calls to the brokers by what was asked; a step upwards is often a copy that is behind, which only the brokers tell.',
      [
        query(
          '{{service}} {{operation}}',
          quantile(0.99, 'vision_upstream_duration_seconds', 'service, operation', 'upstream="kafka"'),
        ),
      ],
      { unit: 's' },
    ),
    stack(
      'Failing calls to Kafka',
      'By service and kind; one service alone points at its network or its login.',
      [
        query(
          '{{service}} {{outcome}}',
          sum('service, outcome', recorded('vision_upstream_duration_seconds', 'upstream="kafka"', FAILED)),
        ),
      ],
      { unit: 'cps', traces: '{ span.app.upstream.name = "kafka" && status = error }' },
    ),
    stack(
      'Frames published',
      'Frames that Kafka acknowledged; 0 while sources run is Kafka, or inference that cannot reach it.',
      [query('{{scene}}', sum('scene', rate('vision_frames_published_total')))],
      { unit: 'cps' },
    ),
  ],
};

const arrive: Section = {
  title: 'Do they arrive?',
  panels: [
    lines(
      'Age when handled, p95',
      'From the fact to its handling, by group; it holds the time in the outbox, in Kafka and in retries.',
      [query('{{group}}', quantile(0.95, 'vision_consumer_event_age_seconds', group))],
      { unit: 's', traces: '{ name =~ "process .*" && duration > 1s }' },
    ),
    lines(
      'Age in the log of events, p95',
      'From the change of a task, or the frame of an alarm, to the event that callers read; an alert fires at 30 s.',
      [query('{{kind}}', quantile(0.95, 'vision_notify_event_age_seconds', 'kind'))],
      { unit: 's' },
    ),
    lines(
      'Records behind in the furthest partition',
      'The furthest partition of each topic; it stands still with a dead consumer, so read it with the next panel.',
      [query('{{group}} {{topic}}', max('group, topic', gauge('vision_consumer_lag')))],
      { unit: 'short' },
    ),
    lines(
      'Partitions held',
      'How many partitions of a topic somebody reads; below the number that the topic has, some wait.',
      [query('{{group}} {{topic}}', sum('group, topic', gauge('vision_consumer_partitions')))],
      { unit: 'short' },
    ),
    stack(
      'Events by outcome',
      'Outcomes of events; "skipped" are repeats that changed nothing.',
      [query('{{group}} {{outcome}}', sum('group, outcome', rate('vision_consumer_events_total')))],
      { unit: 'cps' },
    ),
    stack(
      'Repeated deliveries',
      '"outage" waits for a store and heals by itself, "failure" is an event that cannot be handled.',
      [query('{{group}} {{cause}}', sum('group, cause', rate('vision_consumer_retries_total')))],
      { unit: 'cps' },
    ),
    stack(
      'Groups that share out partitions',
      'Each is a pause of the group; many of them are consumers that come and go.',
      [query('{{group}}', sum(group, rate('vision_consumer_joins_total')))],
      { unit: 'cps' },
    ),
    stack(
      'Crashes and resets of positions',
      'A crash is restarted; a reset is a position that the topic no longer has.',
      [
        query('crash {{group}}', sum(group, rate('vision_consumer_crashes_total'))),
        query('reset {{service}}', sum('service', rate('vision_consumer_offset_resets_total'))),
      ],
      { unit: 'cps' },
    ),
    stack(
      'Held up',
      'An event that must not become a dead letter and cannot be handled stops its partition.',
      [query('{{group}}', sum(group, rate('vision_consumer_blocked_total')))],
      { unit: 'cps' },
    ),
  ],
};

export const kafka: Dashboard = {
  name: 'kafka',
  title: 'Kafka and outbox',
  about: 'Events on their way: is anything lost or stuck, do they leave, do they arrive?',
  sections: [safe, out, arrive],
};
