import { useSignal } from '@preact/signals';
import type { Trouble } from '../lib/trouble.ts';
import { noteTrouble } from './session.ts';

export interface Action {
  isBusy: boolean;
  /** What went wrong with the last attempt; a further one clears it. */
  trouble: Trouble | undefined;
  run: (work: () => Promise<void>) => void;
  /** Clears the trouble: what is tried next is something else. */
  forgive: () => void;
}

/** What a viewer lets the service do: whether it is under way, and what went wrong with it. */
export function useAction(): Action {
  const isBusy = useSignal(false);
  const trouble = useSignal<Trouble | undefined>(undefined);
  const forgive = () => (trouble.value = undefined);
  const run = async (work: () => Promise<void>) => {
    isBusy.value = true;
    forgive();
    try {
      await work();
    } catch (error) {
      trouble.value = noteTrouble(error);
    }
    isBusy.value = false;
  };
  return { isBusy: isBusy.value, trouble: trouble.value, run: (work) => void run(work), forgive };
}
