import type { LoggedEvent } from './event.ts';

/** Topic prefix of a caller: up to eight parts, none of them with a special meaning. */
export const TOPIC_PREFIX = /^[A-Za-z0-9._:-]{1,64}(?:\/[A-Za-z0-9._:-]{1,64}){0,7}$/;

/**
 * The topic of an event: prefix, type, and its camera or task if it has one, e.g. `vision/alarm.opened/yard-east`.
 * Characters other than letters, digits and `._:-` become `_`, so that no part holds a level separator or a wildcard
 * (MQTT 3.1.1, 4.7).
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
