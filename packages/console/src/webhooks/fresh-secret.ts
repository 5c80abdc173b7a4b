import { signal } from '@preact/signals';

/** A secret that this page just made; it is in the memory of this page only, until its viewer has copied it. */
export const freshSecret = signal<{ endpointId: string; secret: string; oldUntil?: string | undefined } | undefined>(
  undefined,
);
