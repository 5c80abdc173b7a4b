import { binsFrom } from '../../domain/fold/summary.ts';
import { createdAtMsOf } from '@vision/contracts/ids';
import { listStates } from '../../db/sources.ts';
import { inOrder, spansWithFrames } from '../../domain/fold/coverage.ts';
import type { Coverage } from '../../domain/fold/coverage.ts';
import { coverageWithin } from '../../domain/timeline.ts';
import { describeSource } from '../../domain/describe-source.ts';
import type { ShownSource } from '../../domain/describe-source.ts';
import { endedReason } from '@vision/contracts/ended-reason';
import type { EndedReason } from '@vision/contracts/ended-reason';
import type { Deps } from '../deps.ts';
import { findSource, lifeOfView } from './find-source.ts';
import type { FoundSource } from './find-source.ts';
import { readFold } from './read-fold.ts';
import type { ReadFoldDeps } from './read-fold.ts';
import { readHours, runsOf } from './read-hours.ts';
import { readPage } from './read-page.ts';

export type SourceDeps = ReadFoldDeps & Pick<Deps, 'settings' | 'sourceCursors' | 'taskOwners'>;

export interface SourceRequest {
  subject: string;
  taskId: string;
  cursor: string | undefined;
  limit: number;
}

/** A source with a page of its states, newest first. */
export interface SourcePage extends ShownSource {
  kind: 'stream' | 'upload';
  last_frame_time_ms?: number | undefined;
  coverage: Coverage;
  items: { at_ms: number; state: string; reason?: EndedReason | undefined }[];
  next_cursor: string;
}

/** The present state of the source of a task, its history, and why the task failed. */
export async function getSource(deps: SourceDeps, request: SourceRequest): Promise<SourcePage> {
  const { db, sourceCursors } = deps;
  const { subject, taskId, limit } = request;
  const { task, record, kind } = await findSource(deps, subject, taskId);
  const after = request.cursor === undefined ? undefined : sourceCursors.decode(taskId, request.cursor);
  const states = await listStates(db, taskId, { after: after && [after.seq, after.position], limit: limit + 1 });
  const items = states.slice(0, limit);
  const last = items.at(-1);
  const hasMore = states.length > limit && last !== undefined;
  return {
    kind,
    ...describeSource(record, createdAtMsOf(taskId)),
    last_frame_time_ms: await lastFrameTime(deps, taskId, { task, record }),
    coverage: await readCoverage(deps, { taskId, record, kind }),
    items: items.map(({ at_ms: atMs, state, reason }) => ({
      at_ms: atMs,
      state,
      ...(reason === null ? {} : { reason: endedReason(reason) }),
    })),
    next_cursor: hasMore ? sourceCursors.encode(taskId, { seq: last.attempt, position: last.n }) : '',
  };
}

/** Older tasks get the coverage of this period; the timeline has all of it. */
const COVERAGE_MS = 86_400_000;

async function readCoverage(
  deps: ReadFoldDeps,
  { taskId, record, kind }: Omit<FoundSource, 'task'> & { taskId: string },
): Promise<Coverage> {
  return readFold(deps, taskId, async (view, db) => {
    const life = lifeOfView(view, { taskId, record, kind });
    const span = { ...life, fromMs: Math.max(life.fromMs, life.toMs - COVERAGE_MS) };
    const hours = await readHours(db, { taskId, view, span, withMinutes: false, bins: binsFrom(0, 0) });
    const runs = inOrder(runsOf(hours), spansWithFrames(view.state.minutes));
    return coverageWithin(span, runs, { seconds: view.pace.coveredSeconds });
  });
}

/** Read in the same way as a caller reads frames, so that it names no frame that a caller cannot read. */
async function lastFrameTime(
  deps: Pick<Deps, 'db'>,
  taskId: string,
  { task, record: { maxSeq, position } }: Pick<FoundSource, 'task' | 'record'>,
): Promise<number | undefined> {
  if (maxSeq < 0) return undefined;
  // The task was read before its record: at its own position the last frame may not be stored yet.
  const reading = { task: { ...task, position }, from: { seq: maxSeq - 1, position }, limit: 1 };
  const { frames } = await readPage(deps, taskId, reading);
  return frames.at(-1)?.frameTimeMs;
}
