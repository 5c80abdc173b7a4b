import type { Check } from '@vision/shared/status/status';
import type { ObjectStore } from './object-store.ts';

/** The object store answers and has the bucket. */
export const askStore =
  (store: ObjectStore): Check =>
  () =>
    store.assertBucket();
