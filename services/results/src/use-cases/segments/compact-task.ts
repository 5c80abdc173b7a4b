import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import { keepCopies } from '../../db/segment-copies.ts';
import { noteObject, takeNoted } from '../../db/segment-objects.ts';
import { lockIngests } from '../../db/ingests.ts';
import { insertSegments } from '../../db/segments.ts';
import type { NewSegment } from '../../db/segments.ts';
import { deleteRows, deleteSegments, firstRows, hotSegments } from '../../db/hot-frames.ts';
import type { HotSegment } from '../../db/hot-frames.ts';
import { decodeHeads } from '@vision/contracts/segments/head';
import { checksumOf, unpackedLength } from '@vision/contracts/segments/pack';
import { encodeSegment, openBody, splitIntoSegments } from '../../domain/segments/segment.ts';
import type { EncodedSegment, SegmentFrame } from '../../domain/segments/segment.ts';
import { isSameFrame } from '../../domain/segments/same-frame.ts';
import { segmentKey } from '../../domain/segments/segment-key.ts';
import { fromStored } from '../../domain/stored-objects.ts';
import type { Deps } from '../deps.ts';

export interface CompactedTask {
  day: string;
  taskId: string;
  /** No frame follows, so the remaining frames are moved, however few. */
  hasEnded: boolean;
}

/** Hot frames of one task in their stored form. */
interface Hot {
  frames: SegmentFrame[];
  /** They fill a large segment, or have waited for long enough. */
  isDue: boolean;
  /** Removes them; returns false when one of them has changed since it was read. */
  remove: (tx: Knex.Transaction) => Promise<boolean>;
}

/** Approximate number of frames of a large segment; a few more are better than a small remainder. */
const FULL = 512;
/** Maximum size of one move before compression: far more than usual frames take. */
const MOST_BYTES = 8 * 1024 * 1024;
/** Frames that do not fill a segment wait for others; a multiple of the minimum time that frames stay hot. */
const PATIENCE = 6;

/**
 * Moves the next hot frames of a task to the object store: the object first, then in one transaction the index and the
 * removal of the hot form. Can end at any point and be repeated; readers get the hot frames until the commit and the
 * segment after it. A reader that gets both counts each frame once. Returns the number of moved frames.
 */
export async function compactTask(
  deps: Pick<Deps, 'db' | 'ownPrefix' | 'settings' | 'signals' | 'store'>,
  task: CompactedTask,
): Promise<number> {
  const inSegments = await hotInSegments(deps, task);
  // A running task always has hot segments that wait for others; its rows do not wait for those.
  const hot = inSegments?.isDue ? inSegments : await hotInRows(deps, task);
  if (!hot?.isDue) return 0;
  const segments = splitIntoSegments(hot.frames).map((frames) => encodeSegment(frames, 'small'));
  assertSame(hot.frames, segments);
  const stored: StoredSegment[] = [];
  for (const segment of segments) stored.push(await putSegment(deps, task, segment));
  const isMoved = await moveToIndex(deps.db, task, { hot, stored });
  crashPoint('results.segments_indexed');
  // A newer attempt took over frames in the meantime: the next round reads them again.
  if (!isMoved) return 0;
  const bytes = stored.reduce((sum, { body }) => sum + body.length, 0);
  deps.signals.framesCompacted({ segments: stored.length, frames: hot.frames.length, bytes });
  return hot.frames.length;
}

/** A segment whose object was sent. Its body stays in the database until that object was read back. */
interface StoredSegment {
  segment: NewSegment;
  objectKey: string;
  body: Buffer;
}

async function putSegment(
  { db, ownPrefix, store }: Pick<Deps, 'db' | 'ownPrefix' | 'store'>,
  { day, taskId }: CompactedTask,
  { facts, heads, body }: EncodedSegment,
): Promise<StoredSegment> {
  const segment = { day, taskId, firstSeq: facts.firstSeq, name: randomUUID() };
  const objectKey = segmentKey(await ownPrefix(), segment);
  await noteObject(db, { objectKey, day });
  crashPoint('results.object_noted');
  await store.put(objectKey, body);
  crashPoint('results.object_stored');
  const bytes = { bytes: body.length, checksum: checksumOf(body) };
  return { segment: { day, taskId, facts, heads, body: undefined, objectKey, ...bytes }, objectKey, body };
}

/** Returns whether the frames were unchanged since they were read; otherwise nothing changes. */
async function moveToIndex(
  db: Knex,
  { day, taskId }: CompactedTask,
  { hot, stored }: { hot: Hot; stored: StoredSegment[] },
): Promise<boolean> {
  try {
    await inTransaction(db, async (tx) => {
      const locked = await lockIngests(tx, [taskId]);
      if (locked.get(taskId)?.deleted_at) throw new Changed();
      for (const { objectKey } of stored) if (!(await takeNoted(tx, objectKey))) throw new Changed();
      if (!(await hot.remove(tx))) throw new Changed();
      await insertSegments(
        tx,
        stored.map(({ segment }) => segment),
      );
      const copies = stored.map(({ segment: { bytes, checksum }, ...one }) => ({
        ...one,
        day,
        taskId,
        bytes,
        checksum,
      }));
      await keepCopies(tx, copies);
    });
    return true;
  } catch (error) {
    if (error instanceof Changed) return false;
    throw error;
  }
}

/** Rolls back the transaction. */
class Changed extends Error {}

async function hotInSegments(
  { db, settings }: Pick<Deps, 'db' | 'settings'>,
  { day, taskId, hasEnded }: CompactedTask,
): Promise<Hot | undefined> {
  const { hotMs } = settings;
  const found = await hotSegments(db, { day, taskId, hotMs, maxBytes: MOST_BYTES });
  const taken: HotSegment[] = [];
  let count = 0;
  let bytes = 0;
  for (const segment of found) {
    bytes += unpackedLength(segment.body);
    if (count >= FULL || (count > 0 && bytes > MOST_BYTES)) break;
    taken.push(segment);
    count += segment.frames;
  }
  if (taken.length === 0) return undefined;
  const isOld = taken.some(({ ageMs }) => ageMs >= PATIENCE * hotMs);
  return {
    frames: taken.flatMap(framesOf).sort((a, b) => a.seq - b.seq),
    isDue: count >= FULL || taken.length < found.length || isOld || hasEnded,
    remove: (tx) => deleteSegments(tx, { day, taskId }, taken),
  };
}

function framesOf({ heads, body }: Pick<HotSegment, 'heads' | 'body'>): SegmentFrame[] {
  const opened = openBody(body, heads);
  return heads.map((head, index) => ({ ...head, objects: opened.objectsOf(index) }));
}

/** Frames that an earlier release stored as rows. */
async function hotInRows({ db }: Pick<Deps, 'db'>, { day, taskId, hasEnded }: CompactedTask): Promise<Hot | undefined> {
  const rows = await firstRows(db, { day, taskId, limit: FULL, maxBytes: MOST_BYTES });
  if (rows.length === 0) return undefined;
  const bytes = rows.reduce((sum, { objects }) => sum + Buffer.byteLength(objects), 0);
  return {
    frames: rows.map((row) => ({ ...row, objects: fromStored(row.objects) ?? row.objects })),
    isDue: rows.length === FULL || bytes > MOST_BYTES / 2 || hasEnded,
    remove: (tx) => deleteRows(tx, { day, taskId }, rows),
  };
}

/** The hot form is about to be removed, so its replacement is decoded and compared first. */
function assertSame(frames: SegmentFrame[], segments: EncodedSegment[]): void {
  const again = segments.flatMap(({ heads, body }) => framesOf({ heads: decodeHeads(heads), body }));
  const differs = frames.some((frame, index) => {
    const other = again[index];
    return !other || !isSameFrame(frame, other);
  });
  if (differs || again.length !== frames.length) throw new Error('a segment does not hold what was put into it');
}
