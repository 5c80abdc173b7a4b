import { buckets } from '@vision/shared/telemetry/buckets';
import { counter, gauge, histogram } from '@vision/shared/telemetry/metric';
import { imageFaults } from './domain/image-call.ts';

/** What images measures. */
export const metrics = {
  calls: counter('vision.images.calls', {
    meaning: 'Image calls',
    labels: { outcome: ['finished', 'replayed', 'undone'] },
  }),
  images: counter('vision.images.images', {
    meaning: 'Images of calls, by outcome',
    labels: { outcome: ['succeeded', ...imageFaults] },
  }),
  headStarts: counter('vision.images.head_starts', {
    meaning:
      'Calls whose images were detected before the call was confirmed; `in_vain`: it was refused or another held its key',
    labels: { outcome: ['kept', 'in_vain'] },
  }),
  callDuration: histogram('vision.images.call.duration', {
    meaning: 'From the whole upload to the stored result',
    buckets: buckets.imageCall,
  }),
  places: gauge('vision.images.places', {
    meaning:
      'Request slots for image calls of this replica; when none is free, calls are refused with `too_many_calls`',
    labels: { state: ['used', 'free'] },
  }),
  spoolBytes: gauge('vision.images.spool.bytes', {
    unit: 'By',
    meaning: 'Images of calls in progress, in memory and on disk',
  }),
  removed: counter('vision.images.pictures.removed', {
    meaning: 'Removed images',
    labels: { reason: ['deleted', 'expired', 'orphaned'] },
  }),
  late: counter('vision.images.courtesy.failures', {
    meaning: 'Settlements and refunds that quota hears of by event only',
    labels: { call: ['settle', 'refund'] },
  }),
};
