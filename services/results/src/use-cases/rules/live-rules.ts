import type { FrameRow } from '../../domain/plan-storing.ts';

/** Frames of a task that this process has stored. */
export interface StoredFrames {
  taskId: string;
  /** `ingests.rule_set`: 0 or null without rules. */
  ruleSet: number | null;
  /** Position of the task before and after them. */
  from: number;
  to: number;
  /** Frames that were not stored late. */
  frames: readonly FrameRow[];
}

/** Follows the alarm rules of tasks whose frames this process stores. */
export interface LiveRules {
  stored: (frames: StoredFrames) => void;
  stop: () => Promise<void>;
}
