import { lines, query, stack } from './panels.ts';
import type { Section } from './panels.ts';
import { FAILED } from './outcomes.ts';
import { gauge, happening, max, quantile, rate, recorded, sum } from './promql.ts';

export const inside: Section = {
  title: 'What happens inside?',
  panels: [
    stack(
      'Failing calls by upstream',
      'Calls of all services that ended without a usable answer; the dashboard "upstream timeouts" takes them apart.',
      [query('{{upstream}}', sum('upstream', recorded('vision_upstream_duration_seconds', FAILED)))],
      { unit: 'cps', traces: '{ span.app.upstream.name = "${__field.labels.upstream}" && status = error }' },
    ),
    stack(
      'Requests that a part held up',
      'Requests that failed because a service gave the gateway no answer, or because no key could be checked; both fire alerts.',
      [
        query('{{upstream}}', sum('upstream', rate('vision_gateway_upstream_errors_total'))),
        query('key store', sum('', rate('vision_gateway_key_store_errors_total'))),
      ],
      { unit: 'cps' },
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

export const background: Section = {
  title: 'Does the work in the background go on?',
  panels: [
    lines(
      'Loops since their last success',
      'By loop; one that is older than ten minutes and three of its pauses fires an alert.',
      [query('{{service}} {{loop}}', `topk(10, ${max('service, loop', gauge('vision_loop_last_success_seconds'))})`)],
      { unit: 's' },
    ),
    lines(
      'Tasks that a loop cannot pass',
      'Anything but 0 for ten minutes is an alert; visionctl doctor names the tasks.',
      [query('{{service}} {{loop}}', max('service, loop', gauge('vision_loop_poisoned_tasks')))],
      { unit: 'short' },
    ),
    lines(
      'Sweeps that are off or refused',
      'A database that may not own the bucket, or does not know its objects: nothing is removed there until somebody decides.',
      [
        query(
          'off {{service}} {{objects}} {{reason}}',
          max('service, objects, reason', gauge('vision_bucket_sweeps_off')),
        ),
        query('refused {{service}}', sum('service', happening('vision_sweep_refused_total'))),
      ],
      { unit: 'short' },
    ),
  ],
};

export const doors: Section = {
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
    lines(
      'Sandboxes of decoders',
      'Replicas of inference by what isolates their decoders; any with "none" fires an alert.',
      [query('{{wall}}', sum('wall', gauge('vision_inference_sandbox')))],
      { unit: 'short' },
    ),
  ],
};
