import type { Evaluation } from '../../domain/fold/evaluation.ts';
import type { FoldedFrame } from '../../domain/fold/state.ts';
import type { FrameRow } from '../../domain/plan-storing.ts';
import type { Deps } from '../deps.ts';
import { foldTask } from './fold-task.ts';
import type { FoldDeps } from './fold-task.ts';
import type { LiveRules } from '../rules/live-rules.ts';
import { createRuleCache } from '../rules/rule-cache.ts';

/** The rules of a task, evaluated up to a position. */
interface Live {
  ruleSet: number;
  position: number;
  evaluation: Evaluation;
}

/** Tasks that are folded at the same time. */
const AT_ONCE = 4;

/**
 * Evaluates the rules of tasks in memory, beside the fold that stores them. Its findings are hints: the fold evaluates
 * the same frames and stores the alarms. A task that is not followed yet is folded at once; from then on it is
 * followed, until its frames or rules change elsewhere.
 */
export function createLiveRules(deps: FoldDeps & Pick<Deps, 'loops'>): LiveRules {
  const followed = createRuleCache<Live>(({ evaluation }) => evaluation.size);
  const waiting = new Set<string>();
  const running = new Map<string, Promise<void>>();
  let isStopping = false;
  const run = async (taskId: string) => {
    await deps.loops.of('fold').attempt(taskId, async () => {
      const { isSaved, open, position } = await foldTask(deps, taskId);
      // Another process folded the task in the meantime, perhaps without these frames.
      if (!isSaved) waiting.add(taskId);
      else if (open && !open.evaluation.isIdle)
        follow(taskId, { ruleSet: open.ruleSet, evaluation: open.evaluation, position });
      else followed.delete(taskId);
    });
    running.delete(taskId);
    start();
  };
  const follow = (taskId: string, live: Live) => {
    const known = followed.get(taskId);
    if (known?.ruleSet === live.ruleSet && known.position >= live.position) return;
    live.evaluation.takeChanges();
    followed.set(taskId, live);
  };
  const start = () => {
    for (const taskId of waiting) {
      if (isStopping || running.size >= AT_ONCE) return;
      if (running.has(taskId)) continue;
      waiting.delete(taskId);
      running.set(taskId, run(taskId));
    }
  };
  return {
    stored: ({ taskId, ruleSet, from, to, frames }) => {
      const live = followed.get(taskId);
      if (!ruleSet) {
        followed.delete(taskId);
        return;
      }
      if (live?.ruleSet === ruleSet && live.position === from) {
        live.evaluation.add(frames.map(toFolded));
        live.position = to;
        if (live.evaluation.takeChanges().length === 0) return;
      }
      waiting.add(taskId);
      start();
    },
    stop: async () => {
      isStopping = true;
      await Promise.all(running.values());
    },
  };
}

const toFolded = ({ seq, position, frameTimeMs, objects }: FrameRow): FoldedFrame => ({
  seq,
  position,
  timeMs: frameTimeMs,
  eachObject: (take) => {
    for (const { label, track_id: trackId, score, bbox } of objects) {
      const { cx, cy, width, height } = bbox;
      take({ label, trackId, score: Math.round(score * 1e6), cx, cy, width, height });
    }
  },
});
