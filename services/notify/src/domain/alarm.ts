import type { AlarmSnapshot } from '@vision/contracts/alarm-events';
import { eventIdOf } from './event.ts';
import type { EventType, NewEvent } from './event.ts';

/** Verdicts of a subject about an alarm. */
export const verdicts = ['none', 'confirmed', 'false_alarm'] as const;
export type Verdict = (typeof verdicts)[number];

export const alarmStates = ['open', 'closed'] as const;
export type AlarmState = (typeof alarmStates)[number];

export interface Review {
  verdict: Verdict;
  note: string | null;
}

/** A stored alarm, with the verdict of its subject. */
export interface StoredAlarm extends Review {
  alarm_id: string;
  /** Number of its opening in the log of the subject. */
  position: number;
  /** JSON in the form for callers. */
  data: string;
  reviewed_at: Date | null;
}

/** The stored version of an alarm. */
export interface KnownAlarm {
  version: number;
  state: AlarmState;
  created_at: Date;
}

/** The alarm in the form for callers, as JSON. */
export function alarmData(
  { subject: _subject, is_live: _isLive, judged_at: updated_at, ...facts }: AlarmSnapshot,
  known: KnownAlarm | undefined,
): string {
  return JSON.stringify({ ...facts, created_at: known?.created_at.toISOString() ?? updated_at, updated_at });
}

/**
 * The events of an alarm version that is newer than the known one. An alarm opens first, also when its opening arrives
 * late or it opens and closes in one version.
 */
export function alarmEvents(alarm: AlarmSnapshot, known: KnownAlarm | undefined): NewEvent[] {
  const { subject, task_id: taskId } = alarm;
  const occurredAt = new Date(alarm.judged_at);
  const data = `{"alarm":${alarmData(alarm, known)}}`;
  return typesOf(alarm, known).map((type) => {
    // An alarm opens and closes once, in any of its versions.
    const what = type === 'alarm.updated' ? alarm.version : type;
    const eventId = eventIdOf(occurredAt, `alarm ${alarm.alarm_id} ${what}`);
    return { eventId, subject, type, taskId, occurredAt, factAt: frameTimeOf(alarm, type), data };
  });
}

/** Frames of an upload have no time of day. */
const frameTimeOf = ({ is_live, opened_ms, closed_ms }: AlarmSnapshot, type: EventType) => {
  if (!is_live || type === 'alarm.updated') return undefined;
  return type === 'alarm.opened' ? opened_ms : closed_ms;
};

function typesOf({ state }: AlarmSnapshot, known: KnownAlarm | undefined): EventType[] {
  if (known === undefined) return state === 'open' ? ['alarm.opened'] : ['alarm.opened', 'alarm.closed'];
  return known.state === 'open' && state === 'closed' ? ['alarm.closed'] : ['alarm.updated'];
}
