import { fail } from '@vision/contracts/errors';

/** Most days of one answer: a quarter. */
export const MAX_DAYS = 92;
/** Days of an answer when the caller names no first one. */
export const DEFAULT_DAYS = 30;

const DAY_MS = 24 * 60 * 60 * 1000;

/** Days of the quota, `YYYY-MM-DD` in UTC+8; both ends belong to it. */
export interface DayRange {
  from: string;
  to: string;
}

/** Today, and the oldest day whose counters are not removed by age. */
export interface KeptDays {
  today: string;
  first: string;
}

/**
 * The days that a caller asks for, without those that have not begun and those that are kept no longer. Absent: `to` is
 * today and `from` is 29 days before `to`.
 * @returns undefined when none of them is known
 * @throws AppError `query_invalid` when they are in the wrong order or more than 92
 */
export function dayRangeOf(
  asked: { from?: string | undefined; to?: string | undefined },
  { today, first }: KeptDays,
): DayRange | undefined {
  const to = asked.to ?? today;
  const from = asked.from ?? addDays(to, 1 - DEFAULT_DAYS);
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days < 1) throw refused(`from must not be later than ${asked.to ? 'to' : `today (${today} in UTC+8)`}.`);
  if (days > MAX_DAYS) throw refused(`At most ${MAX_DAYS} days can be asked for at once, not ${days}.`);
  const known = { from: from < first ? first : from, to: to > today ? today : to };
  return known.from > known.to ? undefined : known;
}

const refused = (message: string) => fail.requestInvalid('query_invalid', message, { field: 'from' });

/** Each day of the range, the first one first. */
export function daysOf({ from, to }: DayRange): string[] {
  const days: string[] = [];
  for (let day = from; day <= to; day = addDays(day, 1)) days.push(day);
  return days;
}

/** `YYYY-MM-DD` so many days later. */
export function addDays(day: string, count: number): string {
  return new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10);
}
