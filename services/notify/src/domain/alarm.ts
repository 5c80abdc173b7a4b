import type { AlarmSnapshot } from '@vision/contracts/alarm-events';
import { eventIdOf } from './event.ts';
import type { EventType, NewEvent } from './event.ts';

/** What a subject says about an alarm. */
export const verdicts = ['none', 'confirmed', 'false_alarm'] as const;
export type Verdict = (typeof verdicts)[number];

export const alarmStates = ['open', 'closed'] as const;
export type AlarmState = (typeof alarmStates)[number];

export interface Review {
  verdict: Verdict;
  note: string | null;
}

/** An alarm that is stored, and what its subject says about it. */
export interface StoredAlarm extends Review {
  alarm_id: string;
  /** Number of its opening in the log of the subject. */
  position: number;
  /** JSON, as callers see it. */
  data: string;
  reviewed_at: Date | null;
}

/** The version of an alarm that is stored. */
export interface KnownAlarm {
  version: number;
  state: AlarmState;
  created_at: Date;
}

/** The alarm as callers see it, as JSON. */
export function alarmData(
  { subject: _subject, is_live: _isLive, judged_at: updated_at, ...facts }: AlarmSnapshot,
  known: KnownAlarm | undefined,
): string {
  return JSON.stringify({ ...facts, created_at: known?.created_at.toISOString() ?? updated_at, updated_at });
}

/**
 * The events of a version of an alarm that is newer than what is known. An alarm opens before anything else, also when
 * its opening arrives late or it opens and closes in one.
 */
export function alarmEvents(alarm: AlarmSnapshot, known: KnownAlarm | undefined): NewEvent[] {
  const { subject, task_id: taskId } = alarm;
  const occurredAt = new Date(alarm.judged_at);
  const data = `{"alarm":${alarmData(alarm, known)}}`;
  return typesOf(alarm, known).map((type) => {
    // An alarm opens and closes once, for any number of its version.
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
