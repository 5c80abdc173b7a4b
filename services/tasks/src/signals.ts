import { meter } from '@vision/shared/telemetry';

const alarmNames = ['results_late', 'mass_vanishing', 'vanished', 'orphans_removed', 'stop_unconfirmed'] as const;

export type Signals = ReturnType<typeof createSignals>;

/** What operators watch; labels are small closed sets, never ids. */
export function createSignals() {
  const tasks = meter('tasks');
  const created = tasks.createCounter('vision.tasks.creates', { description: 'Create requests by kind and outcome' });
  const moved = tasks.createCounter('vision.tasks.moves', { description: 'State changes by move' });
  const probes = tasks.createCounter('vision.tasks.probes', { description: 'Stream probes by scheme and outcome' });
  const alarms = tasks.createCounter('vision.tasks.alarms', { description: 'Things that somebody should look at' });
  const lag = tasks.createHistogram('vision.tasks.reconcile_lag', {
    unit: 's',
    description: 'How late tasks were asked about',
  });
  const gauge = (name: string, description: string) =>
    tasks.createObservableGauge(`vision.tasks.${name}`, { description });
  const active = gauge('active', 'Tasks that have not ended, by state');
  const resolvingAge = gauge('resolving_age_seconds', 'Age of the oldest task whose submission is unknown');
  // A counter that is not there before its first event shows no increase with it, so the alarms begin at 0.
  for (const name of alarmNames) alarms.add(0, { name });
  let seen: { byStatus: Record<string, number>; oldestResolvingS: number } = { byStatus: {}, oldestResolvingS: 0 };
  active.addCallback((result) => {
    for (const [status, count] of Object.entries(seen.byStatus)) result.observe(count, { status });
  });
  resolvingAge.addCallback((result) => result.observe(seen.oldestResolvingS));
  return {
    created: (kind: string, outcome: string) => created.add(1, { kind, outcome }),
    moved: (move: string) => moved.add(1, { move }),
    probed: (scheme: string, outcome: string) => probes.add(1, { scheme, outcome }),
    alarm: (name: (typeof alarmNames)[number]) => alarms.add(1, { name }),
    reconcileLag: (seconds: number) => lag.record(seconds),
    census: (next: typeof seen) => {
      seen = next;
    },
  };
}
