import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Trouble } from '../lib/trouble.ts';
import { noteTrouble } from './session.ts';

export interface Action {
  isBusy: boolean;
  /** What went wrong with the last attempt; a further one clears it. */
  trouble: Trouble | undefined;
  run: (work: (dropped: AbortSignal) => Promise<void>) => void;
  /** Clears the trouble: what is tried next is something else. */
  forgive: () => void;
  /** Ends what is under way, and clears the trouble: an answer would be about something else than the page shows. */
  drop: () => void;
}

/** What a viewer lets the service do: whether it is under way, and what went wrong with it. */
export function useAction(): Action {
  const isBusy = useSignal(false);
  const trouble = useSignal<Trouble | undefined>(undefined);
  const forgive = () => (trouble.value = undefined);
  const current = useRef<AbortController | undefined>(undefined);
  const run = async (work: (dropped: AbortSignal) => Promise<void>) => {
    const attempt = new AbortController();
    current.current = attempt;
    isBusy.value = true;
    forgive();
    try {
      await work(attempt.signal);
    } catch (error) {
      if (!attempt.signal.aborted) trouble.value = noteTrouble(error);
    }
    if (!attempt.signal.aborted) isBusy.value = false;
  };
  const drop = () => {
    current.current?.abort();
    isBusy.value = false;
    forgive();
  };
  return { isBusy: isBusy.value, trouble: trouble.value, run: (work) => void run(work), forgive, drop };
}
