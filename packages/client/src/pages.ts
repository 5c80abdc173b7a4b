import { pause } from './retries.ts';
import type { Step } from './iterator.ts';

interface Page<T> {
  items: T[];
  next_cursor: string;
  resume_cursor: string;
}

export interface PageOptions<T> {
  load: (cursor: string | undefined) => Promise<Page<T>>;
  cursor: string | undefined;
  /** Wait before a page that may not be there yet. */
  pollMs: number;
  signal: AbortSignal | undefined;
}

/** The items of pages, those to come included, until none can follow. */
export async function* followPages<T>({ load, cursor, pollMs, signal }: PageOptions<T>): AsyncGenerator<Step<T>, void> {
  let at = cursor;
  while (at !== '') {
    const { items, next_cursor, resume_cursor } = await load(at);
    const behind: string = next_cursor || resume_cursor;
    for (const [index, item] of items.entries()) yield { item, cursor: index === items.length - 1 ? behind : at };
    if (items.length === 0) yield { cursor: behind };
    at = behind;
    if (next_cursor === '' && at !== '') await pause(pollMs, signal);
  }
}
