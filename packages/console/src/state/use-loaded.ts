import { useSignal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { isPassing } from '../lib/trouble.ts';
import type { Trouble } from '../lib/trouble.ts';
import { noteLoading } from './session.ts';

export interface Loaded<T> {
  value: Signal<T | undefined>;
  trouble: Signal<Trouble | undefined>;
  reload: () => void;
}

export interface LoadOptions<T> {
  /** What the value is of: it is dropped, and loaded anew, when this changes. */
  key: string;
  /** How it is asked for: when this changes it is loaded anew, and stays on the page meanwhile. */
  variant?: string;
  load: (signal: AbortSignal) => Promise<T>;
  /** When to load again, from the last value and what went wrong since; undefined: not by itself. */
  everyMs?: (value: T | undefined, trouble: Trouble | undefined) => number | undefined;
}

/** How long what the connection or the service did not give is waited for. */
const AGAIN_MS = 5_000;

/** A value of the service that stays on the page while it is loaded again, and when that fails. */
export function useLoaded<T>({ key, variant = '', load, everyMs }: LoadOptions<T>): Loaded<T> {
  const value = useSignal<T | undefined>(undefined);
  const trouble = useSignal<Trouble | undefined>(undefined);
  const again = useSignal(0);
  const latest = useRef({ load, everyMs });
  latest.current = { load, everyMs };
  const shownKey = useRef(key);
  const round = again.value;
  useEffect(() => {
    if (shownKey.current !== key) value.value = undefined;
    shownKey.current = key;
    const ended = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    // Kept over turns that a hidden page leaves out.
    let isComing = false;
    const turn = async () => {
      if (!document.hidden || value.value === undefined) {
        try {
          const loaded = await latest.current.load(ended.signal);
          if (ended.signal.aborted) return;
          value.value = loaded;
          trouble.value = undefined;
          isComing = false;
        } catch (error) {
          if (ended.signal.aborted) return;
          trouble.value = noteLoading(error, value.value !== undefined);
          isComing = isPassing(error);
        }
      }
      const waitMs = latest.current.everyMs?.(value.value, trouble.value) ?? (isComing ? AGAIN_MS : undefined);
      if (waitMs !== undefined && !ended.signal.aborted) timer = setTimeout(() => void turn(), waitMs);
    };
    void turn();
    return () => {
      ended.abort();
      clearTimeout(timer);
    };
  }, [key, variant, round]);
  return { value, trouble, reload: () => (again.value += 1) };
}

/** Whether a first answer has come, or a trouble: what stands below can be shown, and will not jump because of it. */
export function useAnswered({ value, trouble }: Pick<Loaded<unknown>, 'value' | 'trouble'>): boolean {
  const isAnswered = useRef(false);
  isAnswered.current ||= value.value !== undefined || trouble.value !== undefined;
  return isAnswered.current;
}
