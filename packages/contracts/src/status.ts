import { z } from 'zod';
import { defineQuestion } from './question.ts';

/** Something that a process cannot do without, asked just now. */
export const dependencyState = z
  .object({
    name: z.string().describe('database, kafka, object_store, redis, or the name of a service'),
    ms: z.int().min(0).describe('Duration of the query, in milliseconds'),
    fault: z.string().optional().describe('Reason why it is not healthy; left out if it is'),
  })
  .meta({ id: 'DependencyState' });

const breakerState = z
  .object({ name: z.string(), state: z.enum(['closed', 'half-open', 'open']) })
  .meta({ id: 'BreakerState' });

const partitionLag = z
  .object({
    group: z.string(),
    topic: z.string(),
    partition: z.int(),
    lag: z.int().describe('Records that are not handled yet'),
  })
  .meta({ id: 'PartitionLag' });

const outboxState = z
  .object({
    waiting: z.int().min(0).describe('Events that wait to be published, counted up to 10000'),
    oldest_s: z.number().min(0).describe('Age of the oldest of them'),
    publishes: z.boolean().describe('Whether this process publishes them; one of all replicas does'),
  })
  .meta({ id: 'OutboxState' });

const webhookState = z
  .object({
    pending: z.int().min(0).describe('Deliveries that are pending, counted up to 10000'),
    overdue_s: z.number().min(0).describe('Time since the longest waiting delivery was due'),
    disabled: z.int().min(0).describe('Endpoints that were disabled because they failed or are gone'),
  })
  .meta({ id: 'WebhookState' });

const poisonedTasks = z
  .object({
    loop: z.string().describe('The background loop'),
    tasks: z.int().min(1).describe('Number of tasks whose step failed and has not succeeded since'),
    task_ids: z.array(z.string()).describe('Their ids, at most 100'),
  })
  .meta({ id: 'PoisonedTasks' });

const timedOutCalls = z
  .object({
    upstream: z.string(),
    operation: z.string(),
    timeouts: z.int().min(1).describe('Number of calls that timed out'),
  })
  .meta({ id: 'TimedOutCalls' });

/** How one process of a service stands. Outbox and lag are those of its database, so every replica tells the same. */
export const serviceStatus = z
  .object({
    service: z.string(),
    instance: z.string().describe('Host and process'),
    dependencies: z.array(dependencyState),
    breakers: z.array(breakerState),
    outbox: outboxState.optional(),
    lag: z.array(partitionLag),
    webhooks: webhookState.optional().describe('Of notify: webhooks of all subjects'),
    poisoned: z
      .array(poisonedTasks)
      .optional()
      .describe('Background loops of this process in which a step fails for some tasks'),
    timeouts: z.array(timedOutCalls).optional().describe('Calls of this process that timed out in the last minute'),
  })
  .meta({ id: 'ServiceStatus', description: 'Status of one process of a service' });

/** Asked of every replica by its own address. */
export const getServiceStatus = defineQuestion({ method: 'get', path: '/internal/v1/status', reply: serviceStatus });

/** The same of the inference backend, which has its own way in; another backend need not have it. */
export const backendStatusPath = '/v1/status';

export const replicaStatus = z
  .object({
    service: z.string(),
    address: z.string(),
    status: serviceStatus.optional(),
    fault: z.string().optional().describe('Why it did not answer'),
  })
  .meta({ id: 'ReplicaStatus', description: 'Status reported by the process at one address' });

/** Every replica of the inference backend, asked by tasks. */
export const listBackendStatus = defineQuestion({
  method: 'get',
  path: '/internal/v1/backend-status',
  reply: z.object({ items: z.array(replicaStatus) }).meta({ id: 'BackendStatus' }),
});

/** Answers every allowed caller: shows that address and keys of both sides fit. */
export const ping = defineQuestion({
  method: 'get',
  path: '/internal/v1/ping',
  reply: z.object({ service: z.string() }).meta({ id: 'Ping' }),
});

export const exampleReplicaStatus: z.infer<typeof replicaStatus> = {
  service: 'tasks',
  address: '10.0.3.17',
  status: {
    service: 'tasks',
    instance: 'tasks-7d9f/1',
    dependencies: [
      { name: 'database', ms: 2 },
      { name: 'quota', ms: 3003, fault: 'quota_unavailable: no reply within 3000 ms' },
    ],
    breakers: [{ name: 'inference.submit', state: 'closed' }],
    outbox: { waiting: 0, oldest_s: 0, publishes: true },
    lag: [{ group: 'tasks', topic: 'vision.results.v1', partition: 0, lag: 0 }],
    poisoned: [{ loop: 'reconciler', tasks: 1, task_ids: ['019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10'] }],
    timeouts: [{ upstream: 'quota', operation: 'reserve', timeouts: 4 }],
  },
};

export type DependencyState = z.infer<typeof dependencyState>;
export type PoisonedTasks = z.infer<typeof poisonedTasks>;
export type PartitionLag = z.infer<typeof partitionLag>;
export type ServiceStatus = z.infer<typeof serviceStatus>;
export type ReplicaStatus = z.infer<typeof replicaStatus>;
