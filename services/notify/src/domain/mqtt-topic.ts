import type { LoggedEvent } from './event.ts';

/** What a caller may choose as the beginning of topics: up to eight parts, none of them with a special meaning. */
export const TOPIC_PREFIX = /^[A-Za-z0-9._:-]{1,64}(?:\/[A-Za-z0-9._:-]{1,64}){0,7}$/;

/**
 * The topic of an event: prefix, type, and the camera or task that it is about, when it is about one, e.g.
 * `vision/alarm.opened/yard-east`. What is not a letter, a digit or one of `._:-` becomes `_`, so that no part holds a
 * level separator or a wildcard (MQTT 3.1.1, 4.7).
 */
export function topicOf(prefix: string, { type, data }: Pick<LoggedEvent, 'type' | 'data'>): string {
  const about = aboutOf(JSON.parse(data) as EventData);
  return [prefix, type, ...(about === undefined ? [] : [cleaned(about)])].join('/');
}

interface EventData {
  client_ref?: string;
  task?: { task_id: string };
  alarm?: { task_id: string; client_ref?: string };
}

const aboutOf = ({ client_ref, task, alarm }: EventData): string | undefined =>
  client_ref ?? alarm?.client_ref ?? alarm?.task_id ?? task?.task_id;

const cleaned = (part: string): string => part.slice(0, 64).replace(/[^A-Za-z0-9._:-]/g, '_') || '_';
