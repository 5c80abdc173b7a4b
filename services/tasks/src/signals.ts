import type { Logger } from '@vision/shared/logger';
import { meter } from '@vision/shared/telemetry';
import type { Change } from './domain/moves.ts';
import type { Task, VideoKind } from './domain/task.ts';

const alarmNames = ['results_late', 'mass_vanishing', 'vanished', 'orphans_removed', 'stop_unconfirmed'] as const;

export type Signals = ReturnType<typeof createSignals>;

/** One method for each fact of the business: it counts and logs. Labels are small closed sets, never ids. */
export function createSignals(logger: Logger) {
  const tasks = meter('tasks');
  const created = tasks.createCounter('vision.tasks.creates', { description: 'Create requests by kind and outcome' });
  const moves = tasks.createCounter('vision.tasks.moves', { description: 'State changes by move' });
  const probes = tasks.createCounter('vision.tasks.probes', { description: 'Stream probes by scheme and outcome' });
  const alarms = tasks.createCounter('vision.tasks.alarms', { description: 'Things that somebody should look at' });
  const lag = tasks.createHistogram('vision.tasks.reconcile_lag', {
    unit: 's',
    description: 'How late tasks were asked about',
  });
  // A counter that first appears with its first event shows no increase, so alarms are there from the start with 0.
  for (const name of alarmNames) alarms.add(0, { name });
  const alarm = (name: (typeof alarmNames)[number]) => alarms.add(1, { name });
  return {
    created: (facts: { kind: VideoKind; outcome: string; task_id?: string }) => {
      created.add(1, { kind: facts.kind, outcome: facts.outcome });
      // A refusal has its line already: that of the request.
      if (facts.task_id !== undefined) logger.info(facts, 'a create was answered');
    },
    moved: ({ taskId, status }: Task, change: Change) => {
      moves.add(1, { move: change.move });
      const reason = 'reason' in change ? change.reason : undefined;
      const who = whoMoved(change);
      logger.info({ task_id: taskId, move: change.move, status, reason, who }, 'a task moved');
    },
    streamReached: ({ scheme }: { scheme: string }) => probes.add(1, { scheme, outcome: 'ok' }),
    streamUnreachable: (facts: { task_id: string; scheme: string; source: string; fault: string }) => {
      probes.add(1, { scheme: facts.scheme, outcome: facts.fault });
      logger.info({ task_id: facts.task_id, source: facts.source, fault: facts.fault }, 'a stream was not reachable');
    },
    resultsLate: ({ taskId }: Task) => {
      alarm('results_late');
      logger.warn({ task_id: taskId }, 'a task ended before its frames could be read');
    },
    massMissing: ({ taskId }: Task) => {
      alarm('mass_vanishing');
      logger.error({ task_id: taskId }, 'many jobs are missing at the backend; none is given up');
    },
    vanished: ({ taskId }: Task) => {
      alarm('vanished');
      logger.warn({ task_id: taskId }, 'the backend has lost a job that it had');
    },
    stopUnconfirmed: ({ taskId, stopsSent }: Task) => {
      alarm('stop_unconfirmed');
      logger.error({ task_id: taskId, stops_sent: stopsSent }, 'a stop is not confirmed by the backend');
    },
    orphansRemoved: (count: number) => {
      alarm('orphans_removed');
      logger.warn({ count }, 'stored videos without a task were removed');
    },
    expiredRemoved: (counts: Record<string, number>) => {
      logger.info(counts, 'expired tasks were removed');
    },
    reconcileLag: (seconds: number) => lag.record(seconds),
    census: createCensus(),
  };
}

/** The operator who wanted it, if one did. */
function whoMoved(change: Change): string | undefined {
  if ('who' in change) return change.who;
  return change.move === 'stop' && typeof change.by !== 'string' ? change.by.operator : undefined;
}

interface Census {
  byStatus: Record<string, number>;
  oldestResolvingS: number;
}

/** Gauges that show the last census. @returns what takes the next one. */
function createCensus(): (next: Census) => void {
  let last: Census = { byStatus: {}, oldestResolvingS: 0 };
  const gauge = (name: string, description: string) =>
    meter('tasks').createObservableGauge(`vision.tasks.${name}`, { description });
  gauge('active', 'Tasks that have not ended, by state').addCallback((result) => {
    for (const [status, count] of Object.entries(last.byStatus)) result.observe(count, { status });
  });
  gauge('resolving_age_seconds', 'Age of the oldest task whose submission is unknown').addCallback((result) =>
    result.observe(last.oldestResolvingS),
  );
  return (next) => {
    last = next;
  };
}
