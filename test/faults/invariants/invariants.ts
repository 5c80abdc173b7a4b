import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { placeOfTrackSnapshot } from '@vision/contracts/track-snapshots';
import { admin } from '../../support/system.ts';
import { converge, fatalLines, inLanes, looksLikeNothing } from './checks.ts';
import { frameInvariants } from './frames.ts';
import type { Invariant } from './invariant.ts';
import { stopInvariants } from './stops.ts';
import type { State } from '../state.ts';
import type { Create } from '../workload.ts';

interface TaskRow {
  task_id: string;
  status: string;
  kind: string;
  reservation_id: string;
  object_key: string | null;
}
interface ReservationRow {
  id: string;
  kind: string;
  state: string;
  units: number;
  charged: number;
}

const videoTasks = ({ stores }: State) =>
  stores.query<TaskRow>(
    'tasks',
    `select task_id, status, kind, reservation_id, object_key from tasks where kind <> 'image'`,
  );
const reservations = ({ stores }: State) =>
  stores.query<ReservationRow>(
    'quota',
    `select id, kind, state, units, charged from reservations where kind is not null`,
  );
const accepted = (creates: Create[]) =>
  creates.flatMap((create) =>
    create.answers.filter((answer) => answer && answer.status < 300).map((answer) => ({ create, answer })),
  );
/** The id of a reservation begins with that of its task. */
const taskOf = (reservationId: string) => reservationId.split('/')[0] ?? '';

const NOTIFY_TABLES = ['events', 'alarms', 'webhook_endpoints', 'webhook_deliveries', 'mqtt_endpoints', 'outbox'];

export const invariants: Invariant[] = [
  ...frameInvariants,
  ...stopInvariants,
  {
    id: 'I1',
    says: 'One key names one task, also when repeats got other answers',
    check: ({ workload }) =>
      workload.creates.flatMap(({ key, answers }) => {
        const ids = new Set(
          answers.flatMap((answer) => (answer && answer.status < 300 ? [String(answer.body['task_id'])] : [])),
        );
        return ids.size > 1 ? [`${key} → ${[...ids].join(', ')}`] : [];
      }),
  },
  {
    id: 'I2',
    says: 'Every counter equals what the ledger says',
    check: async () => {
      const { body, status, text } = await admin('POST', '/admin/v1/quota/verify');
      const differences = body['differences'] as unknown[] | undefined;
      return status === 200 && differences?.length === 0 ? [] : [text];
    },
  },
  {
    id: 'I3/I4',
    says: 'A task that may run is charged one unit, a refunded one nothing; image calls are charged what succeeded',
    check: async (state) => {
      const byId = new Map((await reservations(state)).map((row) => [row.id, row]));
      const wrongTasks = (await videoTasks(state)).flatMap(({ task_id, status, reservation_id }) => {
        const charged = byId.get(reservation_id)?.charged ?? 0;
        return charged === (status === 'refunded' ? 0 : 1) ? [] : [`task ${task_id} ${status}: charged ${charged}`];
      });
      const calls = await state.stores.query<{ task_id: string; reservation_id: string; images_succeeded: number }>(
        'images',
        'select task_id, reservation_id, images_succeeded from image_calls',
      );
      const wrongCalls = calls.flatMap(({ task_id, reservation_id, images_succeeded }) => {
        const charged = byId.get(reservation_id)?.charged ?? 0;
        return charged === images_succeeded
          ? []
          : [`call ${task_id}: ${images_succeeded} succeeded, charged ${charged}`];
      });
      return [...wrongTasks, ...wrongCalls];
    },
  },
  {
    id: 'I5/I6',
    says: 'The backend runs at most one job for one create, and none that is not a task',
    check: async (state) => {
      const tasks = new Map((await videoTasks(state)).map((row) => [row.task_id, row.status]));
      const real = await state.stores.query<{ job_id: string; status: string }>(
        'inference',
        'select job_id, status from jobs',
      );
      return [...state.world.scripted.jobs.values(), ...real].flatMap(({ job_id, status }) => {
        const live = status === 'running' || status === 'stopping' || status === 'queued';
        const known = tasks.get(job_id);
        return live && (known === undefined || known === 'refunded')
          ? [`job ${job_id} runs, its task is ${known ?? 'not there'}`]
          : [];
      });
    },
  },
  {
    id: 'I7',
    says: 'No charge without a task or image call, those that were deleted included',
    check: async (state) => {
      const tasks = new Set((await videoTasks(state)).map(({ reservation_id }) => reservation_id));
      const calls = await state.stores.query<{ reservation_id: string }>(
        'images',
        'select reservation_id from image_calls',
      );
      for (const { reservation_id } of calls) tasks.add(reservation_id);
      return (await reservations(state))
        .filter(({ id, charged }) => charged > 0 && !tasks.has(id) && !state.workload.deletions.has(taskOf(id)))
        .map(({ id, kind, charged }) => `${kind} ${id}: ${charged}`);
    },
  },
  {
    id: 'I9',
    says: 'Every outbox is empty',
    check: async ({ stores }) => {
      const waiting = await Promise.all(
        ['tasks', 'images', 'results'].map(async (service) => {
          const [row] = await stores.query<{ waiting: number }>(
            service,
            'select count(*)::int as waiting from outbox where published_at is null',
          );
          return row && row.waiting > 0 ? [`${service}: ${row.waiting}`] : [];
        }),
      );
      return waiting.flat();
    },
  },
  {
    id: 'I10',
    says: 'Every task moved along the table of moves, one version at a time; none was given up whose job the backend kept',
    check: async ({ stores, world }) => {
      const jumps = await stores.query(
        'tasks',
        `select task_id, from_status, to_status, before from (
           select task_id, from_status, to_status, lag(to_status) over (partition by task_id order by version) as before from task_moves
         ) as moves where before is not null and before <> from_status`,
      );
      const vanished = await stores.query<{ task_id: string }>(
        'tasks',
        `select task_id from task_moves where move = 'vanish'`,
      );
      const kept = vanished.filter(({ task_id }) => !world.forgotten.has(task_id));
      return [...jumps, ...kept].map((row) => JSON.stringify(row));
    },
  },
  {
    id: 'I11',
    says: 'What was answered with 2xx and not deleted can be read and has not become another task',
    check: async ({ workload }) => {
      const seen = await inLanes(accepted(workload.creates), async ({ create, answer }) => {
        const id = String(answer?.body['task_id']);
        if (workload.deletions.has(id)) return [];
        const read = await create.caller.get(`/v1/vision/tasks/${id}`);
        return read.status === 200 && read.body['request_id'] === create.key
          ? []
          : [`${create.kind} ${id}: ${read.status}`];
      });
      return seen.flat();
    },
  },
  {
    id: 'I12',
    says: 'A repeat of every create request ends in one result',
    check: async ({ workload }) => {
      const results = await inLanes(workload.creates, (create) => converge(workload, create));
      return results.flat();
    },
  },
  {
    id: 'I13',
    says: 'Every stored object belongs to a row, every image that is shown is there, and no upload is half done',
    check: async (state) => {
      // Before the objects: one of an image is there before its row.
      const shown = await state.stores.askResults<{ object_key: string }>(
        'select object_key from track_snapshots where object_key is not null',
      );
      // Frames go on moving to the store, and each of their objects is in the database before it is there.
      const objects = await state.stores.objects();
      const present = new Set(objects);
      const tasks = await videoTasks(state);
      const owned = new Set(tasks.map(({ object_key }) => object_key));
      const pictures = await state.stores.query<{ object_key: string | null }>(
        'images',
        'select object_key from images',
      );
      for (const { object_key } of pictures) owned.add(object_key);
      // What became no part of a segment is in a list and goes with it after an hour.
      const ofFrames = await state.stores.askResults<{ object_key: string }>(
        'select object_key from segments where object_key is not null union select object_key from unindexed_objects',
      );
      for (const { object_key } of ofFrames) owned.add(object_key);
      for (const { object_key } of shown) owned.add(object_key);
      // The event of an image may be lost; its object is its task's, and goes with the sweep.
      const ids = new Set(tasks.map(({ task_id }) => task_id));
      const isOfTask = (key: string) => ids.has(placeOfTrackSnapshot(key)?.taskId ?? '');
      const orphans = objects.filter((key) => !owned.has(key) && !isOfTask(key));
      const gone = shown.filter(({ object_key }) => !present.has(object_key));
      const incomplete = await state.stores.incompleteUploads();
      return [
        ...orphans.map((key) => `orphan ${key}`),
        ...gone.map(({ object_key: key }) => `an image without its object ${key}`),
        ...(incomplete > 0 ? [`${incomplete} uploads half done`] : []),
      ];
    },
  },
  {
    id: 'I15',
    says: 'No request is counted as in flight when none is',
    check: async ({ stores }) => {
      const taken = await stores.takenSlots();
      return taken === 0 ? [] : [`${taken} slots`];
    },
  },
  {
    id: 'I16',
    says: 'Credentials of a stream address, and paths of webhooks, are in no log, row or event',
    check: async ({ world, stores }) => {
      const folder = join(world.settings.localDir, 'log');
      const logs = readdirSync(folder).filter((file) =>
        readFileSync(join(folder, file), 'utf8').includes(world.canary),
      );
      const tables = {
        tasks: ['tasks', 'task_moves', 'idempotency_keys', 'outbox'],
        inference: ['jobs'],
        notify: NOTIFY_TABLES,
      };
      const found = Object.entries(tables).flatMap(([service, names]) =>
        names.map(async (table) => {
          const sql = `select 1 from ${table} as t where t::text like '%' || $1 || '%' limit 1`;
          const rows = await stores.query(service, sql, [world.canary]);
          return rows.length > 0 ? [`${service}.${table}`] : [];
        }),
      );
      return [...logs, ...(await Promise.all(found)).flat()];
    },
  },
  {
    id: 'exported',
    says: 'No span, metric or line that is exported holds more of a stream address than scheme and host, or a key, a cursor or the name of a file',
    check: ({ world }) => {
      const { traces, metrics, logs } = world.exported.received();
      const silent = Object.entries({ traces, metrics, logs }).filter(([, bodies]) => !bodies);
      return [...world.exported.found(), ...silent.map(([signal]) => `no ${signal} were exported`)];
    },
  },
  {
    id: 'I17',
    says: 'To others a task is not there: every route answers as for an id that never was',
    check: async ({ workload }) => {
      const foreign = accepted(workload.creates).flatMap(({ create, answer }) => {
        const other = workload.creates.find(({ caller }) => caller !== create.caller)?.caller;
        return other ? [{ other, id: String(answer?.body['task_id']) }] : [];
      });
      return (await inLanes(foreign.slice(-60), looksLikeNothing)).flat();
    },
  },
  {
    id: 'I18',
    says: 'No client ever saw a 500, a 401 or a 404 for what it may do, and no process gave up by itself',
    check: ({ workload, world }) => [...workload.offences, ...fatalLines(join(world.settings.localDir, 'log'))],
  },
];
