import type { RuleWhenOf } from '@vision/contracts/alarm-rules';
import { containment, regionOf } from '@vision/contracts/region';
import type { EvaluatedFrame, EvaluatedTask, SeenObject } from './state.ts';

type Matching = RuleWhenOf<'object_present' | 'object_absent' | 'line_crossed'>;

const none: readonly SeenObject[] = [];
const nothing: readonly never[] = [];

/** Selects the objects of a frame that count for a rule, highest score first. */
export function matcherOf(
  when: Matching,
  { threshold }: EvaluatedTask,
): (frame: EvaluatedFrame) => readonly SeenObject[] {
  const labels = [...new Set(when.labels)];
  // Scores are stored in millionths; a score between two of them selects from the next one.
  const least = when.min_score === undefined ? threshold : Math.ceil(when.min_score * 1e6 - 1e-6);
  const isInside = 'region' in when && when.region ? containment(regionOf(when.region)) : undefined;
  const isCenter = when.anchor === 'center';
  return ({ byLabel }) => {
    let matched: SeenObject[] | undefined;
    for (const label of labels)
      for (const { object, center, bottomCenter } of byLabel.get(label) ?? nothing) {
        if (object.score < least) continue;
        const { x, y } = isCenter ? center : bottomCenter;
        if (isInside === undefined || isInside(x, y)) (matched ??= []).push(object);
      }
    if (matched && labels.length > 1) matched.sort((a, b) => b.score - a.score);
    return matched ?? none;
  };
}
