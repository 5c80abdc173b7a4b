import { fail } from '@vision/contracts/errors';

/** Maximum days of one response: a quarter. */
export const MAX_DAYS = 92;
/** Days of a response without a requested first day. */
export const DEFAULT_DAYS = 30;

const DAY_MS = 24 * 60 * 60 * 1000;

/** Days of the quota, `YYYY-MM-DD` in UTC+8, both inclusive. */
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
 * The requested days, without future and removed ones. Absent: `to` is today and `from` is 29 days before `to`.
 * @returns undefined when none of them is available
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

/** The day `count` days later, as `YYYY-MM-DD`. */
export function addDays(day: string, count: number): string {
  return new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10);
}
