import { daysOfWeek } from '@vision/contracts/alarm-rules';
import type { Day, RuleSchedule } from '@vision/contracts/alarm-rules';

/** The times at which a rule applies. */
export interface Schedule {
  isOpen: (ms: number) => boolean;
  /** The first moment in `fromMs` to `untilMs` (exclusive) that is open, or closed. */
  first: (state: 'open' | 'closed', fromMs: number, untilMs: number) => number | undefined;
}

export const always: Schedule = {
  isOpen: () => true,
  first: (state, fromMs, untilMs) => (state === 'open' && fromMs < untilMs ? fromMs : undefined),
};

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;

interface Window {
  days: ReadonlySet<Day>;
  from: number;
  to: number;
}

/**
 * A schedule in local time. Each moment is asked for by the clock that hangs on the wall then, so a window of 18:00 to
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
      const now = clock(minute * MINUTE_MS);
      known = { minute, isOpen: windows.some((window) => isIn(window, now)) };
    }
    return known.isOpen;
  };
  const first: Schedule['first'] = (state, fromMs, untilMs) => {
    for (let at = fromMs; at < untilMs; at = (Math.floor(at / MINUTE_MS) + 1) * MINUTE_MS)
      if (isOpen(at) === (state === 'open')) return at;
    return undefined;
  };
  return { isOpen, first };
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
  return (ms) => {
    const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
    const day = daysOfWeek.find((one) => one === parts['weekday']?.toLowerCase());
    if (!day) throw new Error(`${timeZone} has no day of the week at ${ms}`);
    return { day, minutes: (Number(parts['hour']) * 60 + Number(parts['minute'])) % DAY_MINUTES };
  };
}
