import type { RuleWhenOf } from '@vision/contracts/alarm-rules';
import { regionOf } from '@vision/contracts/region';
import { isInArea } from '../../object-filter.ts';
import type { JudgedFrame, JudgedTask, SeenObject } from './state.ts';

type Matching = RuleWhenOf<'object_present' | 'object_absent' | 'line_crossed'>;

const none: readonly SeenObject[] = [];

/** Selects the objects of a frame that count for a rule, highest score first. */
export function matcherOf(when: Matching, { threshold }: JudgedTask): (frame: JudgedFrame) => readonly SeenObject[] {
  const labels = [...new Set(when.labels)];
  // Scores are stored in millionths; a score between two of them selects from the next one.
  const least = when.min_score === undefined ? threshold : Math.ceil(when.min_score * 1e6 - 1e-6);
  const corners = 'region' in when ? when.region : undefined;
  const area = corners && { region: regionOf(corners), anchor: when.anchor };
  return ({ byLabel }) => {
    let matched: SeenObject[] | undefined;
    for (const label of labels)
      for (const object of byLabel.get(label) ?? none)
        if (object.score >= least && (area === undefined || isInArea(area, object))) (matched ??= []).push(object);
    if (matched && labels.length > 1) matched.sort((a, b) => b.score - a.score);
    return matched ?? none;
  };
}
