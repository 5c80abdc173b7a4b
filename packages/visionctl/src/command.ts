import type { AdminClient } from './admin-client.ts';
import type { Settings } from './config.ts';
import { UsageError } from './usage-error.ts';

export interface CommandContext {
  admin: AdminClient;
  settings: Settings;
  /** By the names of the command's `args`. */
  args: Record<string, string>;
  /** By the names of the command's `options`; an option without a value is `'true'` when it was given. */
  options: Record<string, string | undefined>;
  /** Tells how far a long command has come; not part of its result. */
  progress: (text: string) => void;
}

export interface Output {
  /** Printed with `--json`. */
  value: unknown;
  /** Printed otherwise. */
  text: string;
  /** Exit code, when it is not 0. */
  exitCode?: number;
}

/** A positional argument. */
interface Argument {
  name: string;
  summary: string;
  choices?: readonly string[];
  /** What it is when it is left out; without this it is required. */
  fallback?: string;
}

interface Option {
  summary: string;
  /** What stands for the value in the help: `--limit <number>`. Without it the option takes no value. */
  value?: string;
  required?: true;
  choices?: readonly string[];
}

export interface Command {
  /** The last word: `create` of `visionctl keys create`. */
  name: string;
  summary: string;
  args?: Argument[];
  /** By their names without dashes: `images-per-day`. */
  options?: Record<string, Option>;
  run: (context: CommandContext) => Promise<Output>;
}

/** Commands about one thing: `visionctl keys …`. */
export interface CommandGroup {
  name: string;
  /** Another word for it, the singular. */
  alias?: string;
  summary: string;
  commands: Command[];
}

/** @throws UsageError when the option is there and no whole number from `from` on. */
export function wholeNumber(options: CommandContext['options'], name: string, from: number): number | undefined {
  const given = options[name];
  if (given === undefined) return undefined;
  const number = Number(given);
  if (given.trim() !== '' && Number.isSafeInteger(number) && number >= from) return number;
  throw new UsageError(`--${name} is a whole number from ${from}.`);
}

/** The pages of a list one after the other, until there are enough items or no more. */
export async function pagesUpTo<T>(
  limit: number,
  page: (after: string | undefined, limit: number) => Promise<{ items: T[]; next_cursor: string }>,
): Promise<{ items: T[]; next_cursor: string }> {
  const items: T[] = [];
  let after: string | undefined;
  for (;;) {
    const found = await page(after, limit - items.length);
    items.push(...found.items);
    after = found.next_cursor;
    if (after === '' || items.length >= limit) return { items, next_cursor: after };
  }
}

/** The part of an address behind the path: `?a=1&b=2`, without what is undefined. */
export function queryOf(values: Record<string, string | number | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? '' : `?${query.toString()}`;
}
