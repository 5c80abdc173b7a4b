/** The day `days` later (earlier when negative); days are `YYYY-MM-DD` in UTC. */
export function addDays(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}

/** The smallest UUID of a day: all smaller ones belong to tasks created earlier. */
export function firstIdOfDay(day: string): string {
  const time = Date.parse(`${day}T00:00:00Z`).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}
