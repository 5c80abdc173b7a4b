/** How times, sizes and shares are written. */

const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');

/** A position in a video: `0:05`, `12:34`, `1:02:03`; with tenths below a minute when asked. */
export function position(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = pad(seconds % 60);
  return hours > 0 ? `${hours}:${pad(minutes)}:${rest}` : `${minutes}:${rest}`;
}

/** A length of time in words: `0.8 s`, `12 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function duration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return two([minutes, 'min'], [Math.floor(seconds % 60), 's']);
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return two([hours, 'h'], [minutes % 60, 'min']);
  return two([Math.floor(hours / 24), 'd'], [hours % 24, 'h']);
}

const two = ([a, unitA]: [number, string], [b, unitB]: [number, string]) =>
  b === 0 ? `${a} ${unitA}` : `${a} ${unitA} ${b} ${unitB}`;

const clockFormat = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const momentFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

/** Times of streams are dates; those of videos begin at 0. */
export const isDate = (ms: number) => ms > 1e11;

const isToday = (ms: number, now: number) => new Date(ms).toDateString() === new Date(now).toDateString();

/** Time of day in the viewer's zone, with the date unless that is today. */
export const time = (ms: number, now = Date.now()) =>
  isToday(ms, now) ? clockFormat.format(ms) : `${dayFormat.format(ms)}, ${clockFormat.format(ms)}`;

/** The same where there is little room: without seconds behind a date. */
export const shortTime = (ms: number, now = Date.now()) =>
  isToday(ms, now) ? clockFormat.format(ms) : `${dayFormat.format(ms)} ${clockFormat.format(ms).slice(0, 5)}`;

/** Date and time in the viewer's zone. */
export const moment = (time: number | string) => momentFormat.format(new Date(time));

/** The same moment in UTC, for the tip on hover. */
export const inUtc = (time: number | string) =>
  new Date(time)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');

/** `512 B`, `1.4 MB`. */
export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  const units = ['kB', 'MB', 'GB'];
  const power = Math.min(units.length, Math.floor(Math.log10(count) / 3));
  const value = count / 1000 ** power;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[power - 1] ?? ''}`;
}

/** `0.87`. */
export const score = (value: number) => value.toFixed(2);

/** `3 units`, `1 unit`. */
export const count = (value: number, one: string, many = `${one}s`) =>
  `${value.toLocaleString('en')} ${value === 1 ? one : many}`;

/** Long names and labels of others, cut in the middle of nothing: the end is left out. */
export const short = (text: string, most = 80) => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);

/**
 * A text of others within a sentence of ours: writing that runs backwards in it does not turn the rest. Its own marks
 * that end or begin such a part are left out.
 */
export const isolated = (text: string) => `\u2068${text.replaceAll(/[\u2066-\u2069]/g, '')}\u2069`;

export const percent = (share: number) => `${Math.round(share * 100)} %`;
