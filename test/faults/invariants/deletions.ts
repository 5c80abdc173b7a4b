import { resultTablesOfATask } from '../../support/tables-of-a-task.ts';
import { inLanes } from './checks.ts';
import type { Invariant } from './invariant.ts';
import type { State } from '../state.ts';
import type { Create, Deletion } from '../workload.ts';

/** What each service stores of a task or image call, and a deletion removes. */
const TABLES = {
  tasks: ['tasks'],
  images: ['image_calls', 'images'],
  notify: ['events', 'alarms'],
  results: [...resultTablesOfATask, 'alarm_images'],
};

export const deletionInvariants: Invariant[] = [
  {
    id: 'deleted',
    says: 'A task or image call that was deleted is found by no read, and no row, event or object of it is left',
    check: async (state) => {
      const { deletions } = state.workload;
      if (deletions.size === 0) return ['nothing was deleted, so this shows nothing'];
      const read = await inLanes([...deletions], readsOf);
      return [...read.flat(), ...(await rowsOf(state)), ...(await objectsOf(state))];
    },
  },
  {
    id: 'units',
    says: 'A deletion returns no unit: a video that was deleted is charged one, an image call what succeeded',
    check: async ({ stores, workload }) => {
      const rows = await stores.query<{ id: string; charged: number }>(
        'quota',
        `select split_part(id, '/', 1) as id, sum(charged)::int as charged from reservations group by 1`,
      );
      const charged = new Map(rows.map((row) => [row.id, row.charged]));
      return [...workload.deletions].flatMap(([id, { create }]) => {
        const wanted = unitsOf(create);
        return charged.get(id) === wanted ? [] : [`${create.kind} ${id}: ${charged.get(id)} is charged, not ${wanted}`];
      });
    },
  },
];

async function readsOf([id, { create }]: [string, Deletion]): Promise<string[]> {
  const task = `/v1/vision/tasks/${id}`;
  const views = ['results', 'results/stream', 'tracks', 'timeline', 'source', 'video', 'live-snapshot'];
  const paths = create.kind.endsWith('images')
    ? [task, `/v1/vision/image-detections/${id}`]
    : [task, ...views.map((view) => `${task}/${view}`)];
  const answers = await Promise.all(paths.map(async (path) => ({ path, ...(await create.caller.get(path)) })));
  return answers.flatMap(({ path, status, text }) =>
    status === 404 ? [] : [`${create.kind}: ${path} is ${status} ${text.slice(0, 200)}`],
  );
}

async function rowsOf({ stores, workload }: State): Promise<string[]> {
  const ids = [...workload.deletions.keys()];
  const found = Object.entries(TABLES).flatMap(([service, tables]) =>
    tables.map(async (table) => {
      const sql = `select task_id, count(*)::int as n from ${table} where task_id = any($1::uuid[]) group by 1`;
      const rows = await stores.query<{ task_id: string; n: number }>(service, sql, [ids]);
      return rows.map(({ task_id: id, n }) => `task ${id} has ${n} ${table} in ${service}`);
    }),
  );
  return (await Promise.all(found)).flat();
}

/**
 * The name of an object has the id of its task; that of an image may have another, and goes with its row. Objects that
 * held frames wait an hour in a list until they are swept; here it is over at once.
 */
async function objectsOf({ stores, workload }: State): Promise<string[]> {
  await stores.query(
    'results',
    `update unindexed_objects set noted_at = now() - interval '2 hours'
      where noted_at > now() - interval '1 hour' and split_part(object_key, '/', 4) = any($1)`,
    [[...workload.deletions.keys()]],
  );
  const ids = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  const isOfDeleted = (key: string) => key.match(ids)?.some((id) => workload.deletions.has(id));
  return (await stores.objects()).filter(isOfDeleted).map((key) => `${key} is left`);
}

/** As its owner was told. */
function unitsOf({ kind, answers }: Create): number {
  if (!kind.endsWith('images')) return 1;
  const results = answers.findLast((answer) => answer && answer.status < 300)?.body['results'];
  return (results as { status: string }[]).filter(({ status }) => status === 'succeeded').length;
}
