import { STATUS_CODES } from 'node:http';
import { MAX_IMAGES } from '@vision/contracts/images';
import { defaultLimits } from '@vision/contracts/limits';
import { publicReasons } from '@vision/contracts/reasons';
import { retentionConfig } from '@vision/shared/config';
import { MAX_JSON_BYTES } from '@vision/shared/http/json-body';
import { constants } from '../../services/gateway/src/config.ts';
import { MAX_BODY_BYTES, MAX_IMAGE_BYTES } from '../../services/images/src/domain/upload-rules.ts';
import { LINK_SECONDS } from '../../services/gateway/src/domain/link.ts';
import { configSchema as resultsConfig } from '../../services/results/src/config.ts';
import { MOST_BACKTEST_MS } from '../../services/results/src/domain/backtest.ts';
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../services/results/src/domain/result-query.ts';
import { MAX_BUCKETS } from '../../services/results/src/domain/timeline-query.ts';
import { configSchema as tasksConfig } from '../../services/tasks/src/config.ts';
import { MAX_VIDEO_BYTES } from '../../services/tasks/src/http/video-meter.ts';
import { configSchema as notifyConfig } from '../../services/notify/src/config.ts';
import { RULE_CHANGES_PER_MINUTE } from '../../services/notify/src/domain/alarm-rule.ts';
import { TESTS_PER_MINUTE } from '../../services/notify/src/use-cases/webhooks/test-webhook-endpoint.ts';
import { MAX_MQTT_ENDPOINTS } from '../../services/notify/src/domain/mqtt-broker.ts';
import type { Generators } from './guide.ts';

/** The part of the public document that examples are taken from. */
interface Documented {
  paths: Record<string, Record<string, Operation>>;
  components: {
    examples: Record<string, { value: { status: number } }>;
    responses: Record<string, { content?: Content }>;
  };
}

interface Operation {
  operationId: string;
  responses: Record<string, { content?: Content }>;
}

type Content = Record<string, { example?: unknown; examples?: Record<string, { $ref: string }> }>;

/** Generates the tables and answers of the guide from the public document and from the constants of the services. */
export function guideParts(document: object): Generators {
  const documented = document as Documented;
  return {
    limits: () => table(['Limit', 'Value'], limits()),
    statuses: () => table(['Status', 'Codes', 'What to do'], statuses(documented)),
    reasons: () => table(['`code`', '`details.reason`', 'Meaning'], reasons()),
    answer: (operation = '', status = '') => answer(documented, operation, status),
    refusal: (reason = '') => refusal(documented, reason),
  };
}

function limits(): string[][] {
  const daily = defaultLimits;
  return [
    ['Video file', mebibytes(MAX_VIDEO_BYTES)],
    ['Image', mebibytes(MAX_IMAGE_BYTES)],
    ['Images per call', `1 to ${MAX_IMAGES}`],
    ['Body of an image call', mebibytes(MAX_BODY_BYTES)],
    ['JSON body', `${MAX_JSON_BYTES / 1024} KiB`],
    ['Frames per page of results', `1 to ${MAX_LIMIT}, ${DEFAULT_LIMIT} when \`limit\` is absent`],
    ['Video tasks per day', `${daily.video_tasks_per_day} per subject \\*`],
    ['Images per day', `${daily.images_per_day} per subject \\*`],
    ['Requests per second', `${daily.requests_per_second} per subject, ${daily.burst} at once after a pause \\*`],
    ['Video tasks that have not ended', `${daily.active_tasks} per subject \\*`],
    ['Image calls at once', `${daily.image_calls} per subject \\*`],
    ['Video uploads at once', `${daily.video_uploads} per subject \\*`],
    ['Video downloads at once', `${daily.video_downloads} per subject \\*`],
    ['Stream probes at once', `${daily.stream_probes} per subject \\*`],
    ['Open event streams', `${daily.event_streams} per subject \\*`],
    ['Webhook endpoints', `${daily.webhook_endpoints} per subject \\*`],
    ['MQTT endpoints', `${MAX_MQTT_ENDPOINTS} per subject`],
    ['Backtests of alarm rules at once', `${daily.alarm_backtests} per subject \\*`],
    ['Alarm rules', `${daily.alarm_rules} per subject \\*`],
    [
      'Pace of a client',
      `at least ${constants.MIN_CLIENT_BYTES_PER_S / 1024} KiB/s over ${constants.CLIENT_PACE_WINDOW_MS / 1000} s`,
    ],
    ['Stream probes per minute', `${tasksConfig.shape.STREAM_PROBES_PER_MINUTE.parse(undefined)} per subject \\*\\*`],
    ['Changes of alarm rules per minute', `${RULE_CHANGES_PER_MINUTE} per subject`],
    ['Test events of webhooks per minute', `${TESTS_PER_MINUTE} per subject`],
    ['Span of a backtest', `${MOST_BACKTEST_MS / 3_600_000} hours`],
    ['Buckets of a timeline', MAX_BUCKETS.toLocaleString('en')],
    ['Validity of a link', `${LINK_SECONDS.least} s to ${LINK_SECONDS.most / 3600} hours`],
    ['Retention of results and images', `${retentionConfig.RETENTION_DAYS.parse(undefined)} days`],
    ['Retention of images of tracks', `${resultsConfig.shape.SNAPSHOT_DAYS.parse(undefined)} days \\*\\*`],
    ['Retention of events, alarms and deliveries', `${notifyConfig.shape.EVENT_DAYS.parse(undefined)} days \\*\\*`],
  ];
}

const mebibytes = (bytes: number) => `${bytes / 2 ** 20} MiB (2^20 bytes each)`;

/** What a caller does about each status that an operation can refuse with. */
const advice: Record<string, string> = {
  400: 'Correct the request. This includes a body that is too large or of another media type.',
  401: 'Check the API key.',
  403: 'Send a key that has the scope; `details.scope` names it. A retry does not help.',
  404: 'The resource does not exist, was deleted or is not yours, or the address does not exist. `snapshot_not_yet`: retry.',
  405: 'Use a method that the header `Allow` names.',
  409: 'Read `details.reason`: the task has already ended or has not ended yet, the endpoint is disabled, or a limit is reached. The unchanged request does not help.',
  416: 'Request a range within the content; the header `Content-Range` says its size.',
  429: 'Send the same request again after `Retry-After` seconds, a create request with the same key.',
  500: 'The service has a defect. Repeat a create request with the same key only.',
  503: 'Send the same request again after `Retry-After` seconds, a create request with the same key.',
};

function statuses({ components, paths }: Documented): string[][] {
  const codes = new Map<string, Set<string>>();
  for (const problem of Object.values(components.examples).map(
    ({ value }) => value as { status: number; code?: string },
  )) {
    const known = codes.get(String(problem.status)) ?? new Set();
    codes.set(String(problem.status), problem.code === undefined ? known : known.add(problem.code));
  }
  const declared = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ responses }) => Object.keys(responses)),
  );
  for (const status of declared) if (Number(status) >= 400 && !codes.has(status)) codes.set(status, new Set());
  const unknown = [...codes.keys()].filter((status) => !(status in advice));
  const unused = Object.keys(advice).filter((status) => !codes.has(status));
  if (unknown.length > 0 || unused.length > 0) {
    throw new Error(`statuses without advice: ${unknown.join()}; advice for no status: ${unused.join()}`);
  }
  return [...codes.keys()].sort().map((status) => {
    const named = [...(codes.get(status) ?? [])].sort().map((code) => `\`${code}\``);
    return [status, named.join(', ') || 'none', advice[status] ?? ''];
  });
}

function reasons(): string[][] {
  return Object.entries(publicReasons).flatMap(([code, meanings]) =>
    Object.entries<string>(meanings).map(([reason, meaning]) => [
      code === 'none' ? 'none' : `\`${code}\``,
      `\`${reason}\``,
      meaning,
    ]),
  );
}

function answer({ paths }: Documented, operation: string, status: string): string {
  const known = Object.values(paths).flatMap((methods) => Object.values(methods));
  const response = known.find(({ operationId }) => operationId === operation)?.responses[status];
  const [body] = Object.entries(response?.content ?? {});
  if (body?.[1].example === undefined) throw new Error(`${operation} has no example of a ${status} answer`);
  const [type, { example }] = body;
  return http(Number(status), type, example);
}

function refusal({ components }: Documented, reason: string): string {
  const example = components.examples[reason];
  if (!example) throw new Error(`the document has no example of ${reason}`);
  return http(example.value.status, 'application/problem+json', example.value);
}

function http(status: number, type: string, body: unknown): string {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\nContent-Type: ${type}`;
  return `\`\`\`http\n${head}\n\n${JSON.stringify(body, null, 2)}\n\`\`\``;
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
