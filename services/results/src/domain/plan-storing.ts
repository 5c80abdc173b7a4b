import type { JobEndedData } from '@vision/shared/contracts/frame-events';
import { foldMessages } from './fold-events.ts';
import type { FrameMessage } from './fold-events.ts';
import { toStored } from './stored-objects.ts';

/** How far the frames of a task are stored. */
export interface Ingest {
  task_id: string;
  /** Newest attempt seen; -1 before the first. */
  attempt: number;
  /** Frames stored. */
  stored: number;
  /** Last place given out. */
  position: number;
  /** Largest frame number stored; -1 before the first. */
  max_seq: number;
  /** Last place of a frame that was stored after frames with larger numbers. */
  late_position: number;
  end_status: JobEndedData['status'] | null;
}

export interface FrameRow {
  day: string;
  taskId: string;
  seq: number;
  attempt: number;
  position: number;
  frameTimeMs: number;
  width: number;
  height: number;
  /** As `stored-objects.ts` writes them. */
  objects: string;
}

/** The place of a stored frame in the order of storing within its task. */
export interface FramePlace {
  taskId: string;
  position: number;
}

/** What messages of one task mean for what is stored of it. */
export interface StoringPlan {
  /** The state before, moved on by everything but the numbers of stored frames. */
  ingest: Ingest;
  /** Frames beyond the largest stored number: they cannot be there yet. */
  newFrames: FrameRow[];
  /** Frames that may be there already. */
  doubtfulFrames: FrameRow[];
  /** The end mark, when it came into force with these messages. */
  end: JobEndedData | undefined;
  /** Messages of an older attempt. */
  ignored: number;
}

/** Decides what to store of the messages of one task; `day` is the day of its id. */
export function planStoring(before: Ingest, day: string, messages: FrameMessage[]): StoringPlan {
  const fold = foldMessages(messages, before.attempt);
  const rows = fold.frames.map((frame, index): FrameRow => ({
    day,
    taskId: before.task_id,
    seq: frame.seq,
    attempt: frame.attempt,
    position: before.position + 1 + index,
    frameTimeMs: frame.frame_time_ms,
    width: frame.image.width,
    height: frame.image.height,
    objects: toStored(frame.objects),
  }));
  const endBefore = fold.restarted ? null : before.end_status;
  return {
    ingest: {
      ...before,
      attempt: fold.attempt,
      position: before.position + rows.length,
      end_status: fold.end?.status ?? endBefore,
    },
    newFrames: rows.filter(({ seq }) => seq > before.max_seq),
    doubtfulFrames: rows.filter(({ seq }) => seq <= before.max_seq),
    end: endBefore === null ? fold.end : undefined,
    ignored: fold.ignored,
  };
}

/** The state after storing, when `inserted` are those doubtful frames (of any task) that were not there. */
export function afterStoring({ ingest, newFrames }: StoringPlan, inserted: FramePlace[]): Ingest {
  const late = inserted.filter(({ taskId }) => taskId === ingest.task_id).map(({ position }) => position);
  return {
    ...ingest,
    stored: ingest.stored + newFrames.length + late.length,
    max_seq: newFrames.at(-1)?.seq ?? ingest.max_seq,
    late_position: Math.max(ingest.late_position, ...late),
  };
}
