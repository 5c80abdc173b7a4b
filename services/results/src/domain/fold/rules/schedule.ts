import { LRUCache } from 'lru-cache';
import { daysOfWeek } from '@vision/contracts/alarm-rules';
import type { Day, RuleSchedule } from '@vision/contracts/alarm-rules';

/** The times at which a rule applies. */
export interface Schedule {
  isOpen: (ms: number) => boolean;
  /** The first time in `fromMs` to `untilMs` (exclusive) at which the schedule is open, or closed. */
  first: (state: 'open' | 'closed', fromMs: number, untilMs: number) => number | undefined;
}

export const always: Schedule = {
  isOpen: () => true,
  first: (state, fromMs, untilMs) => (state === 'open' && fromMs < untilMs ? fromMs : undefined),
};

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
/** Clocks are set at whole quarters of an hour of UTC. */
const CLOCK_SET_MINUTES = 15;
/** Cached quarters of an hour with their local time for each time zone: more than the longest outage has. */
const MOST_QUARTERS = 128;

interface Window {
  days: ReadonlySet<Day>;
  from: number;
  to: number;
}

/**
 * A schedule in local time. Each instant is evaluated by the local wall clock at that instant, so a window of 18:00 to
 * 06:00 keeps its hours when clocks change: that night is an hour shorter or longer.
 */
export function scheduleOf(schedule: RuleSchedule): Schedule {
  const clock = localClock(schedule.time_zone);
  const windows = schedule.windows.map(({ days, from, to }) => ({
    days: new Set(days),
    from: minutesOf(from),
    to: minutesOf(to),
  }));
  // Windows begin and end with a minute, and frames of one minute come one after another.
  let known = { minute: NaN, isOpen: false };
  const isOpen = (ms: number): boolean => {
    const minute = Math.floor(ms / MINUTE_MS);
    if (minute !== known.minute) {
      const now = clock(ms);
      known = { minute, isOpen: windows.some((window) => isIn(window, now)) };
    }
    return known.isOpen;
  };
  const edges = windows.flatMap(({ from, to }) => [from, to % DAY_MINUTES]);
  const first: Schedule['first'] = (state, fromMs, untilMs) => {
    for (let at = fromMs; at < untilMs; at = nextEdge(at, clock(at), edges))
      if (isOpen(at) === (state === 'open')) return at;
    return undefined;
  };
  return { isOpen, first };
}

/**
 * The next instant at which a schedule may begin or end: where a window does, the day changes, or the clock is set. A
 * silence of a day is evaluated every five seconds, so its minutes are not checked one by one.
 */
function nextEdge(ms: number, { minutes }: LocalTime, edges: readonly number[]): number {
  const minute = Math.floor(ms / MINUTE_MS);
  const quarterEnd = (Math.floor(minute / CLOCK_SET_MINUTES) + 1) * CLOCK_SET_MINUTES;
  let ahead = Math.min(DAY_MINUTES - minutes, quarterEnd - minute);
  for (const edge of edges) if (edge > minutes) ahead = Math.min(ahead, edge - minutes);
  return (minute + ahead) * MINUTE_MS;
}

interface LocalTime {
  day: Day;
  minutes: number;
}

/** A window belongs to the day on which it begins. */
function isIn({ days, from, to }: Window, { day, minutes }: LocalTime): boolean {
  if (from < to) return days.has(day) && minutes >= from && minutes < to;
  return (days.has(day) && minutes >= from) || (days.has(dayBefore(day)) && minutes < to);
}

const dayAfter = (day: Day): Day => daysOfWeek[(daysOfWeek.indexOf(day) + 1) % daysOfWeek.length] ?? day;
const dayBefore = (day: Day): Day => daysOfWeek.at(daysOfWeek.indexOf(day) - 1) ?? day;

function minutesOf(clock: string): number {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number);
  return hours * 60 + minutes;
}

/** One for each time zone: they are large and slow to make. */
const clocks = new Map<string, (ms: number) => LocalTime>();

function localClock(timeZone: string): (ms: number) => LocalTime {
  const name = timeZone.toLowerCase();
  const clock = clocks.get(name) ?? newClock(timeZone);
  clocks.set(name, clock);
  return clock;
}

function newClock(timeZone: string): (ms: number) => LocalTime {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const read = (quarter: number): LocalTime => {
    const ms = quarter * CLOCK_SET_MINUTES * MINUTE_MS;
    const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
    const day = daysOfWeek.find((one) => one === parts['weekday']?.toLowerCase());
    if (!day) throw new Error(`${timeZone} has no day of the week at ${ms}`);
    return { day, minutes: (Number(parts['hour']) * 60 + Number(parts['minute'])) % DAY_MINUTES };
  };
  const known = new LRUCache<number, LocalTime>({ max: MOST_QUARTERS });
  const beginOf = (quarter: number): LocalTime => {
    const begin = known.get(quarter) ?? read(quarter);
    known.set(quarter, begin);
    return begin;
  };
  return (ms) => {
    const minute = Math.floor(ms / MINUTE_MS);
    const quarter = Math.floor(minute / CLOCK_SET_MINUTES);
    const { day, minutes } = beginOf(quarter);
    const now = minutes + minute - quarter * CLOCK_SET_MINUTES;
    return now < DAY_MINUTES ? { day, minutes: now } : { day: dayAfter(day), minutes: now - DAY_MINUTES };
  };
}
