import type { RuleWhenOf } from '@vision/contracts/alarm-rules';
import { regionOf } from '@vision/contracts/region';
import { isInArea } from '../../object-filter.ts';
import type { JudgedTask, SeenObject } from './state.ts';

type Matching = RuleWhenOf<'object_present' | 'object_absent' | 'line_crossed'>;

/** Decides whether an object counts for a rule. */
export function matcherOf(when: Matching, { threshold }: JudgedTask): (object: SeenObject) => boolean {
  const labels = new Set(when.labels);
  // Scores are stored in millionths; a score between two of them selects from the next one.
  const least = when.min_score === undefined ? threshold : Math.ceil(when.min_score * 1e6 - 1e-6);
  const corners = 'region' in when ? when.region : undefined;
  const area = corners && { region: regionOf(corners), anchor: when.anchor };
  return (object) =>
    object.score >= least && labels.has(object.label) && (area === undefined || isInArea(area, object));
}
