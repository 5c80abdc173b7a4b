import type { Knex } from 'knex';
import { decodeFacts, encodeFacts } from '../domain/fold/codec.ts';
import type { Span } from '../domain/fold/coverage.ts';
import type { BegunTrack } from '../domain/fold/minutes.ts';
import type { TrackFacts } from '../domain/fold/tracks.ts';
import type { TrackQuery } from '../domain/track-query.ts';
import type { StoredSnapshot } from '../domain/track-snapshot.ts';
import { SNAPSHOT_COLUMNS, toStored } from './track-snapshots.ts';
import type { SnapshotRow } from './track-snapshots.ts';

interface TaskOfDay {
  day: string;
  taskId: string;
}

interface TrackRow {
  trackId: string;
  label: string;
  frames: number;
  changed: number;
  facts: Buffer;
}

const COLUMNS = `track_id as "trackId", label, frames, changed, facts`;

const labelOf = (stored: string) => JSON.parse(`"${stored}"`) as string;

const ofRow = ({ label, facts, ...row }: TrackRow): TrackFacts => ({
  ...row,
  label: labelOf(label),
  ...decodeFacts(facts),
});

/** PostgreSQL accepts no character 0, so a label is stored in its JSON form. */
const storedLabel = (label: string) => JSON.stringify(label).slice(1, -1);

/** Stored tracks with these ids. */
export async function tracksOfIds(db: Knex, { day, taskId }: TaskOfDay, ids: string[]): Promise<TrackFacts[]> {
  if (ids.length === 0) return [];
  const { rows } = await db.raw<{ rows: TrackRow[] }>(
    `select ${COLUMNS} from tracks where day = :day and task_id = :taskId and track_id = any(:ids::text[])`,
    { day, taskId, ids },
  );
  return rows.map(ofRow);
}

/** Writes tracks, each replacing the stored one; the fold of the task is locked. */
export async function saveTracks(tx: Knex.Transaction, task: TaskOfDay, tracks: TrackFacts[]): Promise<void> {
  if (tracks.length === 0) return;
  const rows = tracks.map((track) => ({
    trackId: track.trackId,
    label: storedLabel(track.label),
    firstMs: track.first.timeMs,
    lastMs: track.last.timeMs,
    frames: track.frames,
    best: track.best.score,
    changed: track.changed,
    facts: encodeFacts(track).toString('hex'),
  }));
  await tx.raw(
    `insert into tracks as known
            (day, task_id, track_id, label, first_time_ms, last_time_ms, frames, best_score, changed, facts)
     select :day::date, :taskId::uuid, "trackId", label, "firstMs", "lastMs", frames, best, changed, decode(facts, 'hex')
       from json_to_recordset(:rows::json) as row ("trackId" text, label text, "firstMs" bigint, "lastMs" bigint,
            frames bigint, best int, changed bigint, facts text)
     on conflict (task_id, track_id, day) do update
        set label = excluded.label, first_time_ms = excluded.first_time_ms, last_time_ms = excluded.last_time_ms,
            frames = excluded.frames, best_score = excluded.best_score, changed = excluded.changed,
            facts = excluded.facts`,
    { ...task, rows: JSON.stringify(rows) },
  );
}

/** An index of its own finds tracks that last longer, when they began long ago. */
const LONG_MS = 600_000;
/** Stored tracks that match a query, those with newer facts, and the image of each. */
export interface FoundTracks {
  page: TrackFacts[];
  own: TrackFacts[];
  images: Map<string, StoredSnapshot | undefined>;
}

/** The next stored tracks that match a query without those of `own`, in any order; and those of `own`. */
export async function findTracks(
  db: Knex,
  task: TaskOfDay,
  { query, limit, own }: { query: TrackQuery; limit: number; own: string[] },
): Promise<FoundTracks> {
  const key = query.order === 'changed' ? 'changed' : 'first_time_ms';
  const direction = query.order === 'newest' ? 'desc' : 'asc';
  const comparison = query.order === 'newest' ? '<' : '>';
  const range = [
    'day = :day and task_id = :taskId',
    query.after && `(${key}, track_id) ${comparison} (:afterKey, :afterId)`,
    query.toMs !== undefined && key === 'first_time_ms' && 'first_time_ms < :toMs',
  ];
  const order = `order by ${key} ${direction}, track_id ${direction}`;
  const scan = (more: string | undefined) =>
    `(select track_id, label, frames, changed, facts, first_time_ms, last_time_ms, best_score from tracks
       where ${[...range, more].filter(Boolean).join(' and ')})`;
  const parts =
    query.fromMs !== undefined && key === 'first_time_ms'
      ? [
          scan(`first_time_ms < :fromMs::bigint - ${LONG_MS} and last_time_ms - first_time_ms > ${LONG_MS}`),
          scan(`first_time_ms >= :fromMs::bigint - ${LONG_MS}`),
        ]
      : [scan(undefined)];
  const values = {
    ...task,
    afterKey: query.after?.value ?? 0,
    afterId: query.after?.trackId ?? '',
    labels: query.labels?.map(storedLabel) ?? [],
    fromMs: query.fromMs ?? 0,
    toMs: query.toMs ?? 0,
    minScore: query.minScore,
    threshold: query.threshold,
    minDurationMs: query.minDurationMs,
    own,
    limit,
  };
  const wanted = [
    'track_id <> all(:own::text[])',
    '(frames > 1 or best_score >= :threshold)',
    'best_score >= :minScore',
    'last_time_ms - first_time_ms >= :minDurationMs',
    query.labels && 'label = any(:labels::text[])',
    query.fromMs !== undefined && 'last_time_ms >= :fromMs',
    query.toMs !== undefined && 'first_time_ms < :toMs',
  ].filter(Boolean);
  const page = `select ${COLUMNS}, false as "isOwn" from (${parts.join(' union all ')}) as scanned
      where ${wanted.join(' and ')} ${order} limit :limit`;
  const ofOwn = `select ${COLUMNS}, true from tracks
      where day = :day and task_id = :taskId and track_id = any(:own::text[])`;
  return readWithImages(db, own.length === 0 ? page : `(${page}) union all (${ofOwn})`, values);
}

type FoundRow = TrackRow & { isOwn: boolean } & (SnapshotRow | { track_id: null });

/** Reads the rows of `tracks`, SQL that marks which of them are own, each with its image. */
async function readWithImages(db: Knex, tracks: string, values: { taskId: string }): Promise<FoundTracks> {
  const { rows } = await db.raw<{ rows: FoundRow[] }>(
    `select found.*, ${SNAPSHOT_COLUMNS.map((column) => `s.${column}`).join(', ')} from (${tracks}) as found
       left join track_snapshots as s on s.task_id = :taskId and s.track_id = "trackId" collate "default"`,
    values,
  );
  const found: FoundTracks = { page: [], own: [], images: new Map() };
  for (const row of rows) {
    const { trackId, label, frames, changed, facts } = row;
    (row.isOwn ? found.own : found.page).push(ofRow({ trackId, label, frames, changed, facts }));
    found.images.set(trackId, row.track_id === null ? undefined : toStored(row));
  }
  return found;
}

/** A track as counted at its beginning. */
export interface BegunRow extends BegunTrack {
  firstTimeMs: number;
}

/** Stored tracks whose first frame is in these times; those of `without` are left out. */
export async function tracksBegunIn(
  db: Knex,
  { day, taskId }: TaskOfDay,
  { times, without }: { times: Span; without: string[] },
): Promise<BegunRow[]> {
  const { rows } = await db.raw<{ rows: { label: string; frames: number; score: number; firstTimeMs: number }[] }>(
    `select label, frames, best_score as score, first_time_ms as "firstTimeMs" from tracks
      where day = :day and task_id = :taskId and first_time_ms >= :fromMs and first_time_ms < :toMs
        and track_id <> all(:without::text[])`,
    { day, taskId, fromMs: times.fromMs, toMs: times.toMs, without },
  );
  return rows.map(({ label, score, ...row }) => ({ ...row, label: labelOf(label), best: { score } }));
}
