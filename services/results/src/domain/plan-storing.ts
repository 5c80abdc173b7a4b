import type { TrackedObject } from '@vision/contracts/detection';
import type { JobEndedData } from '@vision/contracts/frame-events';
import { foldMessages } from './fold-events.ts';
import type { FrameConflict, FrameMessage } from './fold-events.ts';
import { byScore } from './stored-objects.ts';

/** Storing state of the frames of a task. */
export interface Ingest {
  task_id: string;
  /** Newest attempt; -1 before the first. */
  attempt: number;
  /** Frames stored. */
  stored: number;
  /** Last assigned position. */
  position: number;
  /** Largest frame number stored; -1 before the first. */
  max_seq: number;
  /** Last position of a frame that was stored after frames with larger numbers. */
  late_position: number;
  /** The same when all late frames of the task are listed. */
  late_listed: number;
  /** Frames of the newest attempt that are stored, and their smallest and largest number. */
  attempt_stored: number;
  attempt_first: number | null;
  attempt_last: number | null;
  /** The end-of-stream marker of the newest attempt, while frames that it counts are missing. */
  pending_end: JobEndedData | null;
  /** Status of the end-of-stream marker that has been applied. */
  end_status: JobEndedData['status'] | null;
  /** The frames that it counts; null when it has no count. */
  end_frames: JobEndedData['attempt_frames'] | null;
}

export interface FrameRow {
  day: string;
  taskId: string;
  seq: number;
  attempt: number;
  position: number;
  frameTimeMs: number;
  /** The frame is of a live stream, so its time is that of its capture. */
  isLive: boolean;
  width: number;
  height: number;
  /** Highest score first. */
  objects: readonly TrackedObject[];
}

/** Outcome of storing a frame that may have been stored already. */
export interface Doubtful {
  taskId: string;
  seq: number;
  /**
   * `inserted`: it was not stored. `adopted`: the same frame of an older attempt was stored and counts for this attempt
   * now. `different`: another frame has its number.
   */
  outcome: 'inserted' | 'adopted' | 'different';
  /** The attempt of the frame that is stored. */
  keptAttempt: number;
}

/** Fields of a stored frame that decide whether another one with its number is the same. */
export type PresentFrame = Pick<FrameRow, 'taskId' | 'seq' | 'attempt' | 'frameTimeMs' | 'width' | 'height'>;

/** Outcomes of frames, some of which may be stored already; mere repeats are omitted. */
export function classifyDoubtful(frames: FrameRow[], present: PresentFrame[]): Doubtful[] {
  const known = new Map(present.map((frame) => [`${frame.taskId}/${frame.seq}`, frame]));
  return frames.flatMap((frame): Doubtful[] => {
    const { taskId, seq, attempt } = frame;
    const kept = known.get(`${taskId}/${seq}`);
    if (!kept) return [{ taskId, seq, outcome: 'inserted', keptAttempt: attempt }];
    const isSame = kept.frameTimeMs === frame.frameTimeMs && kept.width === frame.width && kept.height === frame.height;
    if (!isSame) return [{ taskId, seq, outcome: 'different', keptAttempt: kept.attempt }];
    return kept.attempt < attempt ? [{ taskId, seq, outcome: 'adopted', keptAttempt: kept.attempt }] : [];
  });
}

/** Returns those of these frames that have the wanted outcome. */
export function framesWith(frames: FrameRow[], outcomes: Doubtful[], wanted: Doubtful['outcome']): FrameRow[] {
  const names = outcomes.filter(({ outcome }) => outcome === wanted).map(({ taskId, seq }) => `${taskId}/${seq}`);
  const those = new Set(names);
  return frames.filter(({ taskId, seq }) => those.has(`${taskId}/${seq}`));
}

/** Effect of the messages of one task on its stored state. */
export interface StoringPlan {
  /** The previous state, updated except for the counts of stored frames. */
  ingest: Ingest;
  /** Frames above the largest stored number, which cannot be stored yet. */
  newFrames: FrameRow[];
  /** Frames that may be stored already. */
  doubtfulFrames: FrameRow[];
  /** Different frames with the same number among the messages themselves. */
  conflicts: FrameConflict[];
  /** The end-of-stream marker to apply as soon as its frames are stored. */
  end: JobEndedData | undefined;
  /** Messages of an older attempt. */
  ignored: number;
}

/** Decides what to store of the messages of one task; `day` is the day of its id. */
export function planStoring(before: Ingest, day: string, messages: FrameMessage[]): StoringPlan {
  const hasEnded = before.end_status !== null;
  const fold = foldMessages(messages, { attempt: before.attempt, firstSeq: before.attempt_first, hasEnded });
  const rows = fold.frames.map((frame, index): FrameRow => ({
    day,
    taskId: before.task_id,
    seq: frame.seq,
    attempt: frame.attempt,
    position: before.position + 1 + index,
    frameTimeMs: frame.frame_time_ms,
    isLive: frame.is_live === true,
    width: frame.image.width,
    height: frame.image.height,
    objects: byScore(frame.objects),
  }));
  const known = fold.restarted ? { ...before, ...nothingOfAttempt } : before;
  return {
    ingest: { ...known, attempt: fold.attempt, position: before.position + rows.length },
    newFrames: rows.filter(({ seq }) => seq > before.max_seq),
    doubtfulFrames: rows.filter(({ seq }) => seq <= before.max_seq),
    conflicts: fold.conflicts,
    end: known.end_status === null ? (fold.end ?? known.pending_end ?? undefined) : undefined,
    ignored: fold.ignored,
  };
}

const nothingOfAttempt = {
  attempt_stored: 0,
  attempt_first: null,
  attempt_last: null,
  pending_end: null,
  end_status: null,
  end_frames: null,
};

/** State of a task after its messages were stored. */
export interface AfterStoring {
  ingest: Ingest;
  /** The end-of-stream marker that was applied. */
  end: JobEndedData | undefined;
  conflicts: FrameConflict[];
}

/** The state after storing. `outcomes` are those of doubtful frames of any task that changed something. */
export function afterStoring(plan: StoringPlan, outcomes: Doubtful[]): AfterStoring {
  const { ingest, newFrames, doubtfulFrames } = plan;
  const own = new Map(outcomes.filter(({ taskId }) => taskId === ingest.task_id).map((one) => [one.seq, one]));
  const withOutcome = (...wanted: Doubtful['outcome'][]) =>
    doubtfulFrames.filter(({ seq }) => wanted.some((outcome) => own.get(seq)?.outcome === outcome));
  const late = withOutcome('inserted');
  const counted = [...newFrames, ...withOutcome('inserted', 'adopted')].filter(
    ({ attempt }) => attempt === ingest.attempt,
  );
  const seqs = counted.map(({ seq }) => seq);
  const latePosition = Math.max(ingest.late_position, ...late.map(({ position }) => position));
  const after: Ingest = {
    ...ingest,
    stored: ingest.stored + newFrames.length + late.length,
    max_seq: newFrames.at(-1)?.seq ?? ingest.max_seq,
    late_position: latePosition,
    late_listed: ingest.late_listed === ingest.late_position ? latePosition : ingest.late_listed,
    attempt_stored: ingest.attempt_stored + counted.length,
    attempt_first: extreme(Math.min, ingest.attempt_first, seqs),
    attempt_last: extreme(Math.max, ingest.attempt_last, seqs),
  };
  const refused = withOutcome('different').map(({ seq, attempt }): FrameConflict => ({
    seq,
    keptAttempt: own.get(seq)?.keptAttempt ?? -1,
    refusedAttempt: attempt,
  }));
  const conflicts = [...plan.conflicts, ...refused];
  if (!plan.end) return { ingest: after, end: undefined, conflicts };
  if (!isComplete(after, plan.end)) return { ingest: { ...after, pending_end: plan.end }, end: undefined, conflicts };
  return { ingest: withEnd(after, plan.end), end: plan.end, conflicts };
}

/** The state with this end-of-stream marker applied. */
export const withEnd = (ingest: Ingest, end: JobEndedData): Ingest => ({
  ...ingest,
  pending_end: null,
  end_status: end.status,
  end_frames: end.attempt_frames ?? null,
});

/** Whether the frames that an end-of-stream marker counts are stored. A marker without a count is complete at once. */
export function isComplete(ingest: Ingest, { attempt_frames: published }: JobEndedData): boolean {
  if (published === undefined || published.count === 0) return true;
  const { attempt_stored: stored, attempt_first: first, attempt_last: last } = ingest;
  const { count, first_seq: firstSeq = 0, last_seq: lastSeq = 0 } = published;
  return stored >= count && first !== null && first <= firstSeq && last !== null && last >= lastSeq;
}

function extreme(choose: (...values: number[]) => number, known: number | null, seqs: number[]): number | null {
  const values = known === null ? seqs : [known, ...seqs];
  return values.length === 0 ? null : choose(...values);
}
