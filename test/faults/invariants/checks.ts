import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { countStoredFrames } from '../../support/stored-frames.ts';
import { admin } from '../../support/system.ts';
import type { Answer, Caller } from '../../support/system.ts';
import type { State } from '../state.ts';
import { taskIdOf } from '../workload.ts';
import type { Create, Workload } from '../workload.ts';

const LANES = 6;
/** A refusal for now says when to come again; whoever does gets a result in the end. */
const TRIES = 8;
const MAX_PAUSE_MS = 5_000;

export async function inLanes<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = [...items];
  const lane = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) results.push(await work(item));
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return results;
}

/** Repeats a create as its client would: the same again, after the time it was told. */
export async function converge(workload: Workload, create: Create): Promise<string[]> {
  const isDeleted = workload.deletions.has(taskIdOf(create) ?? '');
  let answer: Answer | undefined;
  for (let tries = 0; tries < TRIES; tries += 1) {
    answer = await workload.repeat(create);
    if (answer && answer.status < 500) break;
    await delay(Math.min(MAX_PAUSE_MS, Number(answer?.headers.get('retry-after') ?? 1) * 1_000));
  }
  if (isDeleted ? answer?.status === 404 : answer && answer.status < 400) {
    // The real workers have few places, and others wait for one.
    const id = create.kind === 'real stream' && !isDeleted ? taskIdOf(create) : undefined;
    if (id !== undefined) await workload.stop(create.caller, id);
    return [];
  }
  return [`${create.kind} ${create.key}: ${answer?.status ?? 'no answer'} ${answer?.text.slice(0, 200) ?? ''}`];
}

/** What a stranger is told about a task, compared with what is told about an id that never was. */
export async function looksLikeNothing({ other, id }: { other: Caller; id: string }): Promise<string[]> {
  const routes: ((task: string) => Promise<Answer>)[] = [
    (task) => other.get(`/v1/vision/tasks/${task}`),
    (task) => other.get(`/v1/vision/tasks/${task}/results`),
    (task) => other.stop(task),
  ];
  const differences = await Promise.all(
    routes.map(async (ask, index) => {
      const [real, none] = await Promise.all([ask(id), ask(randomUUID())]);
      return real.status === 404 && essence(real) === essence(none) ? [] : [`route ${index} of ${id}: ${real.text}`];
    }),
  );
  return differences.flat();
}

/** A problem document without what differs from request to request. */
function essence({ status, body }: Answer): string {
  const { instance: _instance, trace_id: _trace, ...rest } = body;
  return JSON.stringify([status, rest]);
}

/**
 * Lines by which a process says that it ends with a failure: no outage is a reason for that. One that cannot start
 * while a store is away says so and is started again.
 */
export function fatalLines(folder: string): string[] {
  return readdirSync(folder).flatMap((file) =>
    readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .filter((line) => line.includes('"level":"fatal"') && !line.includes('"msg":"start failed"'))
      .map((line) => `${file}: ${line.slice(0, 300)}`),
  );
}

/** What of tasks, pictures, videos and frames is stored. */
export async function countStored({ stores }: State): Promise<Record<string, number>> {
  const count = async (service: string, table: string) =>
    (await stores.query<{ n: number }>(service, `select count(*)::int as n from ${table}`))[0]?.n ?? 0;
  const objects = (await stores.objects()).filter((key) => !isOfResults(key));
  const named = new Set([...(await keysOf(stores, 'tasks', 'tasks')), ...(await keysOf(stores, 'images', 'images'))]);
  return {
    tasks: await count('tasks', 'tasks'),
    imageCalls: await count('images', 'image_calls'),
    images: await count('images', 'images'),
    frames: await countStoredFrames(stores.askResults),
    // Frames go on moving to the object store, and images of tracks expire sooner, so their number may change.
    objects: objects.length,
    objectsOfRows: objects.filter((key) => named.has(key)).length,
  };
}

async function keysOf({ query }: State['stores'], service: string, table: string): Promise<string[]> {
  const rows = await query<{ object_key: string }>(
    service,
    `select object_key from ${table} where object_key is not null`,
  );
  return rows.map(({ object_key: key }) => key);
}

/** Whether an object holds frames, or an image of a track. */
export const isOfResults = (key: string) => key.startsWith('segments/') || key.startsWith('track-snapshots/');

/** Tasks that a read answers otherwise, those that were deleted left out. */
export async function misread({ workload }: State, expected: 200 | 404): Promise<string[]> {
  const ids = new Map(
    workload.creates.flatMap(({ caller, answers }) =>
      answers.flatMap((answer) =>
        answer && answer.status < 300 ? [[String(answer.body['task_id']), caller] as const] : [],
      ),
    ),
  );
  for (const id of workload.deletions.keys()) ids.delete(id);
  const read = async ([id, caller]: readonly [string, Caller]) => {
    const { status } = await caller.get(`/v1/vision/tasks/${id}`);
    return status === expected ? [] : [`${id} is ${status}`];
  };
  return (await inLanes([...ids], read)).flat();
}

/** Removes batch after batch until a run finds nothing more. */
export async function runRetention(): Promise<string[]> {
  let last = '';
  for (let run = 0; run < 20; run += 1) {
    const { status, text } = await admin('POST', '/admin/v1/retention/run');
    if (status !== 200) return [`retention: ${status} ${text}`];
    if (text === last) return [];
    last = text;
  }
  return [`retention does not come to an end: ${last}`];
}
