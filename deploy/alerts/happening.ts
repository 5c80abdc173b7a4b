import type { AlertCase } from './cases.ts';
import { steady, values } from './series.ts';

/** A counter that exists from the start with 0, as those of alarms do, and grows by one after five minutes. */
export const once = (series: string) => values(series, '0x5 1x5');
export const never = (series: string) => steady(series, 0, 10);
const restarted = (series: string) => values(series, '3x5 0x5');

/** A counter of which the first event is the alert. */
export const happening = (series: string, labels: Record<string, string>, summary: string): AlertCase => ({
  atMinute: 7,
  fires: { when: once(series), labels, summary },
  stays: { 'nothing happened': never(series), 'a process that began anew': restarted(series) },
});
