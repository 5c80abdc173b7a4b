import { createHash } from 'node:crypto';
import type { RuleWhen } from '@vision/contracts/alarm-rules';
import { ALARM_LIMITS } from '@vision/contracts/alarms';
import type { ClosedBy } from '@vision/contracts/alarm-events';
import { isTrackId } from '../tracks.ts';
import type { Alarm, AlarmChange, Evidence, Rule, RuleState, SeenObject } from './state.ts';

/** Whether enough time has passed since the newest alarm of the rule. */
export const mayRaise = ({ minIntervalMs }: Rule, { raisedMs }: RuleState, atMs: number): boolean =>
  raisedMs === undefined || atMs - raisedMs >= minIntervalMs;

/** Initial facts of an alarm; `key` distinguishes alarms of one frame. */
export interface Opening {
  atMs: number;
  evidence: Evidence;
  key?: string;
}

/** Opens an alarm and stores it in the state. */
export function raise(rule: Rule, taskId: string, state: RuleState, { atMs, evidence, key = '' }: Opening): Alarm {
  const opened = evidence.frame ? `frame ${evidence.frame.seq}` : `time ${atMs}`;
  const alarm: Alarm = {
    alarmId: idOf([rule.id, String(rule.version), taskId, opened, key]),
    openedMs: atMs,
    suppressed: state.suppressed,
    evidence: { ...evidence, ...placeOf(rule.when), objects: evidence.objects.slice(0, ALARM_LIMITS.objects) },
    labels: [],
    countMax: 0,
    trackIds: [],
  };
  state.raisedMs = atMs;
  state.suppressed = 0;
  state.open = alarm;
  observe(alarm, evidence.objects);
  return copyOf(alarm);
}

/** Stored in the alarm: the rule may have another region or line when a user reads the alarm. */
function placeOf(when: RuleWhen): Pick<Evidence, 'region' | 'line'> {
  if (when.kind === 'line_crossed') return { line: when.line };
  return 'region' in when && when.region ? { region: when.region } : {};
}

/** Adds the objects of one more frame to an open alarm. */
export function observe(alarm: Alarm, objects: readonly SeenObject[]): void {
  alarm.countMax = Math.max(alarm.countMax, objects.length);
  for (const { label, trackId } of objects) {
    if (!alarm.labels.includes(label)) alarm.labels.push(label);
    if (alarm.trackIds.length >= ALARM_LIMITS.tracks || alarm.trackIds.includes(trackId)) continue;
    if (isTrackId(trackId)) alarm.trackIds.push(trackId);
  }
}

/** Result for most frames. */
export const unchanged: readonly AlarmChange[] = [];

/** Closes the open alarm; empty when none is. */
export function close(state: RuleState, closedMs: number, closedBy: ClosedBy): readonly AlarmChange[] {
  const alarm = state.open;
  if (!alarm) return unchanged;
  state.open = undefined;
  state.closedMs = closedMs;
  // Its clock may have been set back since.
  return [{ ...alarm, closedMs: Math.max(alarm.openedMs, closedMs), closedBy }];
}

const copyOf = (alarm: Alarm): Alarm => ({ ...alarm, labels: [...alarm.labels], trackIds: [...alarm.trackIds] });

/** A UUID version 8 (RFC 9562: for applications), made of a hash. */
function idOf(parts: string[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  const variant = ((parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-');
}
