import type { AlarmRule } from '@vision/client';
import { duration, isolated, short } from '../lib/format.ts';
import type { RuleWhen } from '../lib/rule-draft.ts';
import { halfOf } from '../lib/shape.ts';
import { t } from '../strings.ts';

/** The tasks of a rule, in words. */
export function scopeText(scope: AlarmRule['scope']): string {
  const refs = (scope?.client_refs ?? []).map((ref) => isolated(short(ref, 40)));
  const tasks = scope?.task_ids ?? [];
  const parts = [...refs, ...(tasks.length > 0 ? [t.rules.ownTasks(tasks.length)] : [])];
  return parts.length === 0 ? t.rules.everyTask : parts.join(', ');
}

/** The condition of a rule, in words: `objects appear: person, in the left half, for 2 s`. */
export function whenText(when: RuleWhen): string {
  const held = 'for_ms' in when && when.for_ms > 0 ? `, ${t.rules.held(duration(when.for_ms))}` : '';
  if (when.kind === 'task_ended') {
    return `${t.rule.kinds.task_ended}: ${when.statuses.map((status) => t.tasks.statuses[status]).join(', ')}`;
  }
  const labels = 'labels' in when ? `: ${when.labels.map((label) => isolated(short(label, 40))).join(', ')}` : '';
  return `${t.rule.kinds[when.kind]}${labels}${areaText(when)}${held}`;
}

function areaText(when: RuleWhen): string {
  if (!('region' in when)) return '';
  return `, ${t.rules.in[halfOf(when.region) ?? 'part']}`;
}
