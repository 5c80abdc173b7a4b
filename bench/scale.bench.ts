import { setTimeout as delay } from 'node:timers/promises';
import { taskResultsCompleted } from '@vision/contracts/task-events';
import { createDb } from '@vision/shared/db/knex';
import { createProducer } from '@vision/kafka/producer';
import { until } from '@vision/shared/testing/until';
import { atMost, quantile } from './figures.ts';
import type { Figure } from './figures.ts';
import { cpuSecondsOf } from './process-tree.ts';
import { transactionsByService, workOf } from './scale/database-work.ts';
import { startTasksWorld } from './scale/tasks-world.ts';
import type { TasksWorld } from './scale/tasks-world.ts';

export const name = 'scale';

/** Tasks that run at the same time; TASKS=10000 adds the largest number, TASKS=0 leaves the idle system alone. */
const LARGEST = Number(process.env['TASKS'] || 1_000);
const SIZES = [100, 1_000, 10_000].filter((tasks) => tasks <= LARGEST);
const WINDOW_MS = Number(process.env['WINDOW_MS'] || 60_000);
const ENDS = 50;

/**
 * What running tasks cost beside their frames: the real tasks service against a backend that follows a script, with
 * more and more tasks that just run, and the time from an end mark to the end of a task among them. And what a system
 * does in which nobody does anything: that of `make up`, one of each service.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  const idle = await measureIdle();
  const costs: Cost[] = [];
  for (const tasks of SIZES) costs.push(await measureTasks(tasks));
  return { figures: [...idle, ...costs.flatMap(figuresOf), ...growthOf(costs)] };
}

async function measureIdle(): Promise<Figure[]> {
  const db = createDb({ url: process.env['DATABASE_URL'] ?? '', poolMax: 1, applicationName: 'bench' });
  try {
    const from = await transactionsByService(db);
    await delay(WINDOW_MS);
    const to = await transactionsByService(db);
    const rates = [...to].map(([service, count]) => ({
      service,
      rate: (count - (from.get(service) ?? 0)) / (WINDOW_MS / 1000),
    }));
    const sum = rates.reduce((total, { rate }) => total + rate, 0);
    return [
      ...rates.map(({ service, rate }) => ({ name: `${service}, at rest, transactions`, value: rate, unit: '1/s' })),
      { name: 'one of each service, at rest, transactions', value: sum, unit: '1/s', target: atMost(5) },
    ];
  } finally {
    await db.destroy();
  }
}

/** Of one task in a minute. */
interface Cost {
  tasks: number;
  transactions: number;
  rowVersions: number;
  questions: number;
  cpuMs: number;
  endsMs: number[];
}

async function measureTasks(tasks: number): Promise<Cost> {
  const world = await startTasksWorld(tasks);
  try {
    const before = await stateOf(world);
    await delay(WINDOW_MS);
    const after = await stateOf(world);
    const each = (key: keyof typeof before) => (after[key] - before[key]) / tasks / (WINDOW_MS / 60_000);
    return {
      tasks,
      transactions: each('transactions'),
      rowVersions: each('rowVersions'),
      questions: each('questions'),
      cpuMs: each('cpuMs'),
      endsMs: await timesOfEnds(world),
    };
  } finally {
    await world.close();
  }
}

async function stateOf({ database, backend, service }: TasksWorld) {
  const cpuMs = cpuSecondsOf(service.child.pid ?? 0) * 1000;
  return { ...(await workOf(database.db)), questions: backend.questions, cpuMs };
}

/** Milliseconds from the instant at which results tells of the end of a task until the task has ended. */
async function timesOfEnds({ database, backend, kafka }: TasksWorld): Promise<number[]> {
  const producer = createProducer(kafka.client);
  const ids = [...backend.jobs.keys()].slice(0, ENDS);
  const told = new Map<string, number>();
  for (const id of ids) {
    backend.end(id, 'succeeded');
    told.set(id, Date.now());
    const data = { task_id: id, attempt: 1, status: 'succeeded' as const, frames_stored: 1 };
    await producer.publish([{ ...taskResultsCompleted, key: id, source: 'results', data }]);
    await delay(20);
  }
  const ended = () => database.db('tasks').where({ status: 'succeeded' }).select<Ended[]>('task_id', 'ended_at');
  await until(async () => (await ended()).length === ids.length, { timeoutMs: 180_000, intervalMs: 200 });
  await producer.stop();
  return (await ended()).map(({ task_id: id, ended_at: at }) => at.getTime() - (told.get(id) ?? 0));
}

interface Ended {
  task_id: string;
  ended_at: Date;
}

function figuresOf({ tasks, transactions, rowVersions, questions, cpuMs, endsMs }: Cost): Figure[] {
  const of = `${tasks} tasks,`;
  return [
    { name: `${of} transactions per task and minute`, value: transactions, unit: '' },
    { name: `${of} row versions per task and minute`, value: rowVersions, unit: '' },
    { name: `${of} requests to the backend per task and minute`, value: questions, unit: '' },
    { name: `${of} processor time of tasks per task and minute`, value: cpuMs, unit: 'ms' },
    { name: `${of} end-of-stream marker to the end of the task, p50`, value: quantile(endsMs, 0.5), unit: 'ms' },
    { name: `${of} end-of-stream marker to the end of the task, p99`, value: quantile(endsMs, 0.99), unit: 'ms' },
  ];
}

function growthOf(costs: Cost[]): Figure[] {
  const [first, last] = [costs[0], costs.at(-1)];
  if (!first || !last || first === last) return [];
  const what = `${last.tasks} over ${first.tasks} tasks,`;
  return [
    {
      name: `${what} transactions per task`,
      value: last.transactions / first.transactions,
      unit: 'ratio',
      target: atMost(1.3),
    },
    {
      name: `${what} row versions per task`,
      value: last.rowVersions / first.rowVersions,
      unit: 'ratio',
      target: atMost(1.3),
    },
  ];
}
