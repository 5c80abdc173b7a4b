import type { Alarm } from '@vision/client';
import { duration, isolated, short } from '../lib/format.ts';
import { t } from '../strings.ts';

type Facts = Pick<Alarm, 'kind' | 'labels' | 'count_max' | 'evidence'>;

/** The objects of an alarm: `2 × person`, `person, car`. */
export function objectsText({ labels, count_max: most }: Pick<Facts, 'labels' | 'count_max'>): string {
  const text = labels.map((label) => isolated(short(label, 40))).join(', ');
  return text === '' ? '' : t.alarms.objects(text, labels.length === 1 ? Math.max(1, most) : 1);
}

/** What raised an alarm, in words. */
export function evidenceText(alarm: Facts): string {
  const { kind, labels, evidence } = alarm;
  const held = duration(evidence.held_ms);
  const words = t.alarms.evidence;
  switch (kind) {
    case 'object_present':
      return evidence.held_ms === 0 ? objectsText(alarm) : words.object_present(objectsText(alarm), held);
    case 'object_absent':
      return words.object_absent(labels.map((label) => isolated(short(label, 40))).join(', '), held);
    case 'line_crossed':
      return words.line_crossed(objectsText(alarm));
    case 'source_down':
      return words.source_down(held);
    case 'task_ended':
      return words.task_ended(evidence.status === undefined ? '' : t.tasks.statuses[evidence.status]);
  }
}
