import type { Knex } from 'knex';
import type { FrameData } from '@vision/contracts/frame-events';
import { encodeSegment, splitIntoSegments } from '../../services/results/src/domain/segments/segment.ts';
import { foldTask } from '../../services/results/src/use-cases/fold/fold-task.ts';
import { atMost } from '../figures.ts';
import type { Figure } from '../figures.ts';
import { syntheticTaskId } from '../synthetic-frames.ts';
import { depsOf, keepFrames, showUpload } from './parts.ts';

const HOUR_MS = 3_600_000;
const FPS = 5;
const HOURS = 2;
/** 5,000 tracks a day. */
const TRACK_S = 52;
const BATCH = 500;
const COPIES = 100;

/**
 * Bytes that the fold stores of a stream of three objects, each of them for 52 s, over the bytes of its frames: rows of
 * tracks and hours with their indexes over segments as they are kept, with their row in the index.
 */
export async function byteFigures(db: Knex): Promise<Figure[]> {
  const deps = depsOf(db);
  const taskId = syntheticTaskId();
  await showUpload(db, taskId);
  const frames = Array.from({ length: (HOURS * HOUR_MS * FPS) / 1000 }, (_, seq) => frameAt(taskId, seq));
  const before = await bytesOf(db, /^(tracks|timeline_hours)/);
  for (let at = 0; at < frames.length; at += BATCH) await keepFrames(deps, frames.slice(at, at + BATCH));
  await foldTask(deps, taskId);
  const copied = await copyTask(db, taskId);
  const folded = ((await bytesOf(db, /^(tracks|timeline_hours)/)) - before) / (copied + 1);
  const kept = segmentBytes(frames);
  const perDay = (bytes: number) => (24 * bytes) / HOURS / 1024 ** 2;
  return [
    { name: 'frames of a day of a stream of 3 objects', value: perDay(kept), unit: 'MiB' },
    { name: 'its tracks and hours', value: perDay(folded), unit: 'MiB' },
    {
      name: 'tracks and hours over frames, bytes',
      value: folded / kept,
      unit: 'ratio',
      target: atMost(0.15),
      floor: atMost(0.3),
    },
  ];
}

/** Objects that walk through the image and tremble a little, as detections do. */
function frameAt(taskId: string, seq: number): FrameData {
  const generation = Math.floor(seq / (TRACK_S * FPS));
  const rounded = (value: number, digits: number) => Number(value.toFixed(digits));
  const around = (value: number) => rounded(value + (Math.random() - 0.5) / 200, 6);
  return {
    job_id: taskId,
    attempt: 1,
    seq,
    frame_time_ms: seq * (1000 / FPS),
    image: { width: 1920, height: 1080 },
    objects: ['person', 'person', 'car'].map((label, index) => ({
      label,
      score: rounded(0.6 + 0.35 * Math.random(), 4),
      bbox: {
        format: 'cxcywh_normalized',
        cx: around(0.1 + (0.8 * (seq % (TRACK_S * FPS))) / (TRACK_S * FPS)),
        cy: around(0.3 + index / 5),
        width: around(0.08),
        height: around(0.3),
      },
      track_id: `a1-${3 * generation + index + 1}`,
    })),
  };
}

/** Segments as the compactor makes them, and their rows without the rest of a page. */
function segmentBytes(frames: FrameData[]): number {
  const ROW_AND_INDEXES = 400;
  const stored = frames.map(({ attempt, seq, frame_time_ms: frameTimeMs, image, objects }) => ({
    seq,
    attempt,
    position: seq + 1,
    frameTimeMs,
    width: image.width,
    height: image.height,
    objects,
  }));
  return splitIntoSegments(stored).reduce((sum, run) => {
    const { heads, body } = encodeSegment(run, 'small');
    return sum + heads.length + body.length + ROW_AND_INDEXES;
  }, 0);
}

/** Copies of the rows of the fold for other tasks, so that pages of the database are full; returns how many. */
async function copyTask(db: Knex, taskId: string): Promise<number> {
  const others = Array.from({ length: COPIES }, syntheticTaskId);
  const values = { taskId, others };
  await db.raw(
    `insert into tracks (day, task_id, track_id, label, first_time_ms, last_time_ms, frames, best_score, changed, facts)
     select day, other, track_id, label, first_time_ms, last_time_ms, frames, best_score, changed, facts
       from tracks, unnest(:others::uuid[]) as other where task_id = :taskId`,
    values,
  );
  await db.raw(
    `insert into timeline_hours (day, task_id, hour_ms, coverage, totals, minutes)
     select day, other, hour_ms, coverage, totals, minutes
       from timeline_hours, unnest(:others::uuid[]) as other where task_id = :taskId`,
    values,
  );
  return others.length;
}

/** Bytes of the tables with such names, their indexes included. */
async function bytesOf(db: Knex, names: RegExp): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ bytes: number }] }>(
    `select coalesce(sum(pg_total_relation_size(oid)), 0)::float8 as bytes from pg_class
      where relkind = 'r' and relname ~ ?`,
    [names.source],
  );
  return rows[0].bytes;
}
