import type { ReplicaStatus, ServiceStatus } from '@vision/contracts/status';

/** One question of `doctor` and its outcome. */
export interface Finding {
  /** `here`, or the process that asked. */
  from: string;
  what: string;
  ms?: number;
  fault?: string;
  /** What to do about the fault. */
  advice?: string;
}

/** Events older than this wait although Kafka should have them. */
const OLD_S = 30;
/** Webhooks are sent within seconds after they are due. */
const OVERDUE_S = 120;
/** Ids of poisoned tasks in one line. */
const LISTED_TASKS = 10;

/** What the processes told, one finding for each thing that was asked. */
export function findingsOf(processes: ReplicaStatus[]): Finding[] {
  return [...processes.flatMap(ofProcess), ...withoutPublisher(processes)];
}

function ofProcess({ service, address, status, fault }: ReplicaStatus): Finding[] {
  const from = `${service} ${address}`;
  if (fault !== undefined) return [{ from, what: 'process', fault, advice: adviceFor('process', fault) }];
  if (!status) return [{ from, what: 'process (of another make: it tells no more)' }];
  return [
    ...status.dependencies.map(({ name, ms, fault: wrong }) => withAdvice({ from, what: name, ms }, name, wrong)),
    ...status.breakers.map(({ name, state }) =>
      withAdvice({ from, what: `breaker ${name}` }, 'breaker', state === 'closed' ? undefined : state),
    ),
    ...ofOutbox(from, status),
    ...ofWebhooks(from, status),
    ...ofLoops(from, status),
    ...ofTimeouts(from, status),
  ];
}

function ofOutbox(from: string, { outbox }: ServiceStatus): Finding[] {
  if (!outbox?.publishes) return [];
  const { waiting, oldest_s: ageS } = outbox;
  const fault = ageS > OLD_S ? `${waiting} events wait, the oldest for ${Math.round(ageS)} s` : undefined;
  return [withAdvice({ from, what: 'outbox' }, 'outbox', fault)];
}

/** Disabled endpoints are their owners' matter; webhooks that are due and not sent are not. */
function ofWebhooks(from: string, { webhooks }: ServiceStatus): Finding[] {
  if (!webhooks) return [];
  const { pending, overdue_s: overdueS } = webhooks;
  const fault = overdueS > OVERDUE_S ? `${pending} wait, one has been due for ${Math.round(overdueS)} s` : undefined;
  return [withAdvice({ from, what: 'webhooks' }, 'webhooks', fault)];
}

function ofLoops(from: string, { poisoned = [] }: ServiceStatus): Finding[] {
  return poisoned.map(({ loop, tasks, task_ids: ids }) => {
    const listed = ids.slice(0, LISTED_TASKS).join(', ');
    const rest = tasks > LISTED_TASKS ? ` and ${tasks - LISTED_TASKS} more` : '';
    return withAdvice({ from, what: `loop ${loop}` }, 'loop', `a step fails for ${tasks} tasks: ${listed}${rest}`);
  });
}

/** A dependency may answer now and not have answered others a moment ago. */
function ofTimeouts(from: string, { timeouts = [] }: ServiceStatus): Finding[] {
  return Object.entries(Object.groupBy(timeouts, ({ upstream }) => upstream)).map(([upstream, calls = []]) => {
    const sum = calls.reduce((total, call) => total + call.timeouts, 0);
    const operations = calls.map((call) => `${call.operation} ${call.timeouts}`).join(', ');
    const fault = `${sum} timed out in the last minute: ${operations}`;
    return withAdvice({ from, what: `calls to ${upstream}` }, 'timeouts', fault);
  });
}

/** A service that publishes, and of which no process says that it is the one that does. */
function withoutPublisher(processes: ReplicaStatus[]): Finding[] {
  const withOutbox = processes.filter(({ status }) => status?.outbox);
  const services = [...new Set(withOutbox.map(({ service }) => service))];
  return services
    .filter((name) => !withOutbox.some(({ service, status }) => service === name && status?.outbox?.publishes))
    .map((name) => withAdvice({ from: name, what: 'outbox' }, 'outbox', 'no replica that was found publishes it'));
}

/** A finding, with what to do when there is a fault. */
export function withAdvice(finding: Finding, kind: string, fault: string | undefined): Finding {
  return fault === undefined ? finding : { ...finding, fault, advice: adviceFor(kind, fault) };
}

const bySigns: [RegExp, string][] = [
  [/migrations of this release/, 'run `main.ts migrate` of this service with its own environment'],
  [/there is no topic/, 'visionctl topics apply'],
  [/there is no bucket/, 'visionctl bucket create'],
  [/unexpected answer 40[13]/, 'let SERVICE_PUBLIC_KEYS of the called service hold the key of the caller'],
  [
    /ENOTFOUND|EAI_AGAIN|name_unknown/,
    'the name is not known: correct the address in the settings, or the name server',
  ],
  [
    /password authentication|WRONGPASS|NOAUTH/,
    'the password in the settings is not that of the store: correct one of them',
  ],
];
const stuck = (what: string) =>
  `read the log of ${what}, restart it when it is stuck; docs/failures.md, "Our own services"`;
const byKind: Record<string, string> = {
  admin: `start the gateway, or correct ADMIN_URL and ADMIN_TOKEN`,
  database: `start PostgreSQL or correct DATABASE_URL; docs/failures.md, "A database is unavailable"`,
  kafka: `start Kafka or correct KAFKA_BROKERS; docs/runbooks/VisionOutboxOld.md`,
  object_store: `start the object store or correct S3_*; docs/failures.md, "S3 is unavailable or refuses"`,
  redis: `start Redis or correct REDIS_URL; until then every gateway limits by itself; docs/runbooks/VisionRedisAway.md`,
  inference: `start the inference backend or correct INFERENCE_URL; docs/failures.md, "Inference"`,
  breaker: `the backend failed again and again: find out why; it closes by itself; docs/runbooks/VisionBreakerOpen.md`,
  outbox: `read the log of the service for outbox-relay; docs/runbooks/VisionOutboxOld.md`,
  webhooks: `read the log of notify; docs/runbooks/VisionWebhooksLate.md`,
  loop: `search the log for the task_id, remove the cause; docs/runbooks/VisionTasksPoisoned.md`,
  timeouts: `see how many fail, of which processes; docs/runbooks/VisionUpstreamFails.md`,
  process: stuck('that process'),
  tasks: stuck('tasks'),
  images: stuck('images'),
  results: stuck('results'),
  quota: stuck('quota'),
  notify: stuck('notify'),
};

function adviceFor(kind: string, fault: string): string {
  const sign = bySigns.find(([pattern]) => pattern.test(fault));
  return sign?.[1] ?? byKind[kind] ?? byKind['process'] ?? '';
}
