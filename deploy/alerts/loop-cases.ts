import type { AlertCase } from './cases.ts';
import { growing, steady, together, values } from './series.ts';

const poisoned = (pod: string, tasks: string) =>
  values(`vision_loop_poisoned_tasks{service="results",loop="compaction",pod="${pod}"}`, tasks);

const loopOf = (loop: string, pod: string, { ages, pauses }: { ages: string; pauses: string }) => {
  const labels = `{service="results",loop="${loop}",pod="${pod}"}`;
  return together(
    values(`vision_loop_last_success_seconds${labels}`, ages),
    values(`vision_loop_pause_seconds${labels}`, pauses),
  );
};

/** Alarms of live frames, a minute. */
const alarmAges = ({ inTime, late }: { inTime: number; late: number }) => {
  const buckets = (le: string, count: number) =>
    growing(`vision_results_alarm_age_seconds_bucket{kind="object_present",le="${le}"}`, count, 70);
  return together(
    buckets('1', inTime),
    buckets('10', inTime),
    buckets('30', inTime + late),
    buckets('+Inf', inTime + late),
    growing('vision_results_alarm_age_seconds_count{kind="object_present"}', inTime + late, 70),
  );
};

const running = (sources: number) => steady('vision_sources{state="running"}', sources, 20);

const reports = (outcome: string, counts: string) =>
  values(`vision_source_reports_total{outcome="${outcome}"}`, counts);

const failingSubjects = (count: number) => steady('vision_notify_webhook_subjects_failing', count, 30);

const attempts = (outcome: string, counts: string) =>
  values(`vision_notify_webhook_attempts_total{outcome="${outcome}"}`, counts);

const blocked = (counts: string) => values('vision_consumer_blocked_total{group="results-frames"}', counts);

/** Background loops and consumers. */
export const loopCases: Record<string, AlertCase> = {
  VisionDeletionUnconfirmed: {
    atMinute: 10,
    fires: {
      when: values('vision_tasks_oldest_unconfirmed_deletion_age_seconds', '3600+60x10'),
      summary: 'A deletion is not confirmed for 1h 10m 0s',
    },
    stays: {
      'a deletion that was confirmed': values('vision_tasks_oldest_unconfirmed_deletion_age_seconds', '3540+60x3 0x7'),
    },
  },
  VisionConsumerBlocked: {
    atMinute: 12,
    fires: {
      when: blocked('0+6x12'),
      labels: { group: 'results-frames' },
      summary: 'A store does not take an event of results-frames, which holds up its partition',
    },
    stays: { 'a statement that took too long once': blocked('0x5 1x7') },
  },
  VisionCompactionBehind: {
    atMinute: 15,
    fires: {
      when: steady('vision_results_compaction_lag_seconds', 2_000, 20),
      summary: 'Frames have waited for over half an hour to be moved to the object store; the database grows',
    },
    stays: { 'a store that was away for ten minutes': steady('vision_results_compaction_lag_seconds', 700, 20) },
  },
  VisionFoldBehind: {
    atMinute: 15,
    fires: {
      when: steady('vision_results_fold_lag_seconds', 400, 20),
      summary: 'Tracks and timelines are behind the stored frames by more than five minutes',
    },
    stays: { 'folds that wait for a minute': steady('vision_results_fold_lag_seconds', 60, 20) },
  },
  VisionAlarmsLate: {
    atMinute: 60,
    fires: {
      when: alarmAges({ inTime: 0, late: 1 }),
      summary: 'Alarms are stored over ten seconds after the frames that open them',
    },
    stays: {
      'alarms that are stored at once': alarmAges({ inTime: 1, late: 0 }),
      'one late alarm': values('vision_results_alarm_age_seconds_count{kind="object_present"}', '0x30 1x40'),
    },
  },
  VisionWebhooksLate: {
    atMinute: 15,
    fires: {
      when: steady('vision_notify_webhooks_overdue_seconds', 200, 20),
      summary: 'Webhooks have been due for more than two minutes and are not sent',
    },
    stays: { 'webhooks that are due for a minute': steady('vision_notify_webhooks_overdue_seconds', 60, 20) },
  },
  VisionWebhooksReachNobody: {
    atMinute: 25,
    fires: {
      when: together(failingSubjects(3), attempts('unreachable', '0+1x30'), attempts('delivered', '9x30')),
      summary: 'No webhook of several subjects reaches its receiver',
    },
    stays: {
      'one that is reached': together(
        failingSubjects(3),
        attempts('timeout', '0+1x30'),
        attempts('delivered', '0+1x30'),
      ),
      'receivers that answer 500': together(
        failingSubjects(3),
        attempts('timeout', '0+1x30'),
        attempts('http_status', '0+1x30'),
      ),
      'receivers of two subjects': together(failingSubjects(2), attempts('unreachable', '0+1x30')),
      'nothing to send': together(failingSubjects(3), attempts('unreachable', '9x30')),
    },
  },
  VisionMqttUnserved: {
    atMinute: 15,
    fires: {
      when: steady('vision_notify_mqtt_waiting_seconds', 200, 20),
      summary: 'MQTT endpoints wait, and no process of notify connects to their brokers',
    },
    stays: {
      'an endpoint that waits for its next turn': steady('vision_notify_mqtt_waiting_seconds', 5, 20),
      'brokers that fail': values('vision_notify_mqtt_failures_total{failure="unreachable"}', '0+9x20'),
    },
  },
  VisionWebhookEndpointsDisabled: {
    atMinute: 15,
    fires: {
      when: values('vision_notify_webhook_endpoints_disabled_total{reason="failing"}', '0 1+1x14'),
      summary: 'More than five webhook endpoints were disabled within an hour',
    },
    stays: {
      'two endpoints': values('vision_notify_webhook_endpoints_disabled_total{reason="gone"}', '0x5 1x5 2x10'),
      'those of a revoked key': values(
        'vision_notify_webhook_endpoints_disabled_total{reason="key_revoked"}',
        '0 20x14',
      ),
    },
  },
  VisionMqttEndpointsDisabled: {
    atMinute: 15,
    fires: {
      when: values('vision_notify_mqtt_endpoints_off', '4 4+1x14'),
      summary: 'More than two MQTT endpoints were disabled within an hour',
    },
    stays: {
      'two endpoints': values('vision_notify_mqtt_endpoints_off', '0x5 1x5 2x10'),
      'endpoints that are off for long': values('vision_notify_mqtt_endpoints_off', '40x20'),
      'endpoints that their owners enable': values('vision_notify_mqtt_endpoints_off', '20-1x20'),
    },
  },
  VisionSourceReportsMissing: {
    atMinute: 20,
    fires: {
      when: together(running(2), reports('published', '9x20'), reports('failed', '0+4x20')),
      summary: 'Live sources run and none of them is reported',
    },
    stays: {
      'sources that are reported once a minute': together(running(2), reports('published', '0+2x20')),
      'no source runs': together(running(0), reports('published', '9x20')),
      'reports that stopped for some minutes': together(running(2), reports('published', '0+2x10 20x3 20+2x7')),
    },
  },
  VisionTasksPoisoned: {
    atMinute: 15,
    fires: {
      when: together(poisoned('a', '2x15'), poisoned('b', '1x15')),
      labels: { service: 'results', loop: 'compaction' },
      summary: 'A step of the loop compaction of results fails for 2 tasks',
    },
    stays: {
      'no task fails': poisoned('a', '0x15'),
      'a task that failed and passed': poisoned('a', '1x4 0x11'),
    },
  },
  VisionLoopFails: {
    atMinute: 30,
    fires: {
      when: together(
        loopOf('retention', 'a', { ages: '86000+60x30', pauses: '86400x9 60x21' }),
        loopOf('retention', 'b', { ages: '100+60x30', pauses: '86400x30' }),
      ),
      labels: { service: 'results', loop: 'retention' },
      summary: 'The background loop retention of results does not succeed',
    },
    stays: {
      'a loop between its rounds': loopOf('retention', 'a', { ages: '80000+60x30', pauses: '86400x30' }),
      'a loop that failed for some minutes': loopOf('audit', 'a', {
        ages: '0x5 60+60x12 0x13',
        pauses: '30x5 60x13 30x13',
      }),
      'a round that takes long': loopOf('sweep', 'a', { ages: '0+60x30', pauses: '600x30' }),
    },
  },
};
