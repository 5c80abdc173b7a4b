/**
 * The UTC day on which a task was created, read from its id: the first 48 bits of a UUIDv7 are Unix milliseconds
 * (RFC 9562 §5.7).
 * @returns `YYYY-MM-DD`; undefined for any other kind of id.
 */
export function dayOfTask(taskId: string): string | undefined {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.test(taskId)) return undefined;
  const createdAt = createdAtMsOf(taskId);
  // The largest 48-bit number is the year 10889, which Date can hold but whose ISO form has six digits.
  const day = new Date(createdAt).toISOString().slice(0, 10);
  return day.startsWith('+') ? undefined : day;
}

/** Unix milliseconds at which a task was created, by its UUIDv7. */
export const createdAtMsOf = (taskId: string): number => parseInt(taskId.slice(0, 8) + taskId.slice(9, 13), 16);

/** The day `days` later (earlier when negative); days are `YYYY-MM-DD` in UTC. */
export function addDays(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}

/** The smallest UUID of a day: everything below it belongs to tasks created earlier. */
export function firstIdOfDay(day: string): string {
  const time = Date.parse(`${day}T00:00:00Z`).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}
