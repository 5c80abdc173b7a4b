/**
 * Time at which the quota of a day is reset: 00:00 of the next day at UTC+8.
 * @param day `YYYY-MM-DD` in UTC+8, from the database. China has had no summer time since 1991, so the offset is fixed.
 * @returns ISO 8601 with the offset written out, e.g. `2026-03-02T00:00:00+08:00`
 */
export function resetsAt(day: string): string {
  const next = new Date(`${day}T00:00:00Z`);
  next.setUTCDate(next.getUTCDate() + 1);
  return `${next.toISOString().slice(0, 10)}T00:00:00+08:00`;
}
