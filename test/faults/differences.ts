import { join } from 'node:path';
import { errorLines } from './alarms.ts';
import type { State, Stored } from './state.ts';
import { STORED_COUNTS } from '../support/stored-frames.ts';

/** Two things that do not agree, named as the audits name them. */
export interface Difference {
  kind: string;
  id: string;
}

/** What differs, as this suite works it out by itself: by reading everything, past the services. */
export async function computeDifferences(state: Stored): Promise<Difference[]> {
  const found = await Promise.all([
    counters(state),
    openReservations(state),
    jobsWithoutWorker(state),
    frames(state),
    videos(state),
    framesOfNobody(state),
    segments(state),
  ]);
  return found.flat();
}

/** Differences of which an audit has said so in an error line, at any time. */
export function differencesTold({ world }: State): Difference[] {
  return errorLines(join(world.settings.localDir, 'log'))
    .filter(({ msg }) => msg === 'an audit found a difference')
    .map(({ kind, id }) => ({ kind: String(kind), id: String(id) }));
}

export const nameOf = ({ kind, id }: Difference) => `${kind} ${id}`;

const named =
  (kind: string) =>
  ({ id }: { id: string }): Difference => ({ kind, id });

async function counters({ stores }: Stored): Promise<Difference[]> {
  const rows = await stores.query<{ id: string }>(
    'quota',
    `select day::text || '/' || kind || '/' || subject as id
       from quota_days full join (
         select subject, kind, day, sum(charged) as charged from reservations where kind is not null group by 1, 2, 3
       ) as sums using (subject, kind, day)
      where coalesce(used, 0) <> coalesce(folded, 0) + coalesce(charged, 0)`,
  );
  return rows.map(named('quota_counter'));
}

async function openReservations({ stores }: Stored): Promise<Difference[]> {
  const open = await stores.query<{ id: string }>('quota', `select id from reservations where state = 'open'`);
  const held = await Promise.all([
    stores.query<{ id: string }>(
      'tasks',
      `select reservation_id as id from tasks where status not in ('stopped', 'succeeded', 'failed', 'refunded')`,
    ),
    stores.query<{ id: string }>(
      'images',
      `select reservation_id as id from idempotency_keys where state <> 'done' and reservation_id is not null`,
    ),
  ]);
  const ids = new Set(held.flat().map(({ id }) => id));
  return open.filter(({ id }) => !ids.has(id)).map(named('open_reservation'));
}

async function jobsWithoutWorker({ stores }: Stored): Promise<Difference[]> {
  const rows = await stores.query<{ id: string }>(
    'inference',
    `select job_id as id from jobs where status in ('queued', 'running', 'stopping') and lease_until <= now()`,
  );
  return rows.map(named('job_without_worker'));
}

/** Stored frames against their count, and ends that the backend confirmed against end marks. */
async function frames({ stores }: Stored): Promise<Difference[]> {
  const ended = await stores.query<{ id: string; published: number }>(
    'tasks',
    `select task_id as id, coalesce(job_frames_published, 0)::int as published from tasks
      where status in ('stopped', 'succeeded', 'failed') and job_ended_at is not null and ${NOT_DELETED}`,
  );
  const ingests = await stores.query<{ id: string; stored: number; frames: number; marked: boolean }>(
    'results',
    `select task_id as id, stored::int, end_status is not null as marked, coalesce(counts.frames, 0) as frames
       from ingests left join ${STORED_COUNTS} as counts using (task_id)`,
  );
  const known = new Map(ingests.map((one) => [one.id, one]));
  const differs = ended.filter(({ id, published }) => {
    const ingest = known.get(id);
    return ingest ? ingest.stored !== ingest.frames || (published > 0 && !ingest.marked) : published > 0;
  });
  return differs.map(named('stored_frames'));
}

async function framesOfNobody({ stores }: Stored): Promise<Difference[]> {
  const unended = await stores.query<{ id: string }>(
    'results',
    'select task_id as id from ingests where end_status is null and attempt >= 0 and deleted_at is null',
  );
  const tasks = await stores.query<{ id: string }>('tasks', 'select task_id as id from tasks');
  const known = new Set(tasks.map(({ id }) => id));
  return unended.filter(({ id }) => !known.has(id)).map(named('frames_without_task'));
}

/** Segments whose object is not in the store. */
async function segments({ stores }: Stored): Promise<Difference[]> {
  const indexed = await stores.askResults<{ id: string }>(
    'select object_key as id from segments where object_key is not null',
  );
  const stored = new Set(await stores.objects());
  return indexed.filter(({ id }) => !stored.has(id)).map(named('segment_missing'));
}

async function videos({ stores }: Stored): Promise<Difference[]> {
  const tasks = await stores.query<{ id: string; key: string | null; status: string }>(
    'tasks',
    `select task_id as id, object_key as key, status from tasks where ${NOT_DELETED}`,
  );
  const objects = (await stores.objects()).filter((key) => key.startsWith(VIDEOS));
  const stored = new Set(objects);
  const ids = new Set(tasks.map(({ id }) => id));
  const missing = tasks.filter(({ key, status }) => key !== null && SUBMITTED.has(status) && !stored.has(key));
  const unused = objects.filter((key) => !ids.has(key.slice(key.lastIndexOf('/') + 1)));
  return [...missing.map(named('video_missing')), ...unused.map((id) => ({ kind: 'video_without_task', id }))];
}

/** What was deleted is on its way out. */
const NOT_DELETED = 'not exists (select from deleted_tasks where deleted_tasks.task_id = tasks.task_id)';
const VIDEOS = 'videos/';
const SUBMITTED = new Set(['submitting', 'resolving', 'running', 'stopping', 'stopped', 'succeeded', 'failed']);
