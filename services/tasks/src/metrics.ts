import { buckets } from '@vision/shared/telemetry/buckets';
import { counter, gauge, histogram } from '@vision/shared/telemetry/metric';
import { allMoves } from './domain/moves.ts';
import { activeStatuses, videoKinds } from './domain/task.ts';

/** Facts that an operator should check. */
const alarmNames = ['results_late', 'mass_vanishing', 'vanished', 'orphans_removed', 'stop_unconfirmed'] as const;

export type AlarmName = (typeof alarmNames)[number];

/** What tasks measures. */
export const metrics = {
  creates: counter('vision.tasks.creates', {
    meaning: 'Create requests',
    labels: {
      kind: ['stream', 'upload'],
      outcome: 'a status, `replayed`, the reason of a refusal, `failed`',
    },
  }),
  moves: counter('vision.tasks.moves', { meaning: 'Changes of state', labels: { move: allMoves } }),
  probes: counter('vision.tasks.probes', {
    meaning: 'Stream probes before a task is created',
    labels: { scheme: 'of the stream', outcome: '`ok`, or why the probe failed' },
  }),
  alarms: counter('vision.tasks.alarms', {
    meaning: 'Facts that an operator should check. An alarm',
    labels: { name: alarmNames },
  }),
  reconcileLag: histogram('vision.tasks.reconcile_lag', {
    meaning: 'How late tasks were asked about at the backend',
    buckets: buckets.lag,
  }),
  placesAwaited: gauge('vision.tasks.places_awaited', {
    meaning: 'Create requests of this replica that wait for a capacity slot of the backend',
    labels: { kind: videoKinds },
  }),
  placeWaits: histogram('vision.tasks.place_wait', {
    meaning: 'Time that a create request waited for a capacity slot of the backend',
    labels: { kind: videoKinds, outcome: ['granted', 'refused', 'unneeded', 'unanswered'] },
    buckets: buckets.lag,
  }),
  active: gauge('vision.tasks.active', {
    meaning: 'Tasks that have not ended. Every replica reports the same: use `max`',
    labels: { status: activeStatuses },
  }),
  deletions: counter('vision.tasks.deletions', {
    meaning: 'Tasks and image calls that their owners deleted',
    labels: { kind: [...videoKinds, 'image'] },
  }),
  oldestDeletion: gauge('vision.tasks.oldest_unconfirmed_deletion_age', {
    unit: 's',
    meaning:
      'Age of the oldest deletion that results or images has not confirmed, 0 without one. The same on every replica',
  }),
  oldestResolving: gauge('vision.tasks.oldest_resolving_age', {
    unit: 's',
    meaning: 'Age of the oldest task whose submission is unknown, 0 without one. The same on every replica',
  }),
};
