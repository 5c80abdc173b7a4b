import type { Logger } from '@vision/shared/logger';
import { createCounter, createHistogram, observe } from '@vision/shared/telemetry/instruments';
import type { Change } from './domain/moves.ts';
import { activeStatuses, videoKinds } from './domain/task.ts';
import type { DeletedTask, Status, Task, VideoKind } from './domain/task.ts';
import { metrics } from './metrics.ts';
import type { AlarmName } from './metrics.ts';

export type Signals = ReturnType<typeof createSignals>;

/** One method for each business fact: it counts and logs. Labels are small closed sets, never ids. */
export function createSignals(logger: Logger) {
  const created = createCounter(metrics.creates);
  const moves = createCounter(metrics.moves);
  const probes = createCounter(metrics.probes);
  const alarms = createCounter(metrics.alarms);
  const lag = createHistogram(metrics.reconcileLag);
  const deletions = createCounter(metrics.deletions);
  const alarm = (name: AlarmName) => alarms.add(1, { name });
  return {
    created: (facts: { kind: VideoKind; outcome: string; task_id?: string }) => {
      created.add(1, { kind: facts.kind, outcome: facts.outcome });
      // A refusal is logged already, by its request.
      if (facts.task_id !== undefined) logger.info(facts, 'create request answered');
    },
    moved: ({ taskId, status }: Task, change: Change) => {
      moves.add(1, { move: change.move });
      const reason = 'reason' in change ? change.reason : undefined;
      const who = whoMoved(change);
      logger.info({ task_id: taskId, move: change.move, status, reason, who }, 'a task moved');
    },
    streamReached: ({ scheme }: { scheme: string }) => probes.add(1, { scheme, outcome: 'ok' }),
    streamUnreachable: (facts: { task_id?: string; scheme: string; source: string; fault: string }) => {
      probes.add(1, { scheme: facts.scheme, outcome: facts.fault });
      logger.info({ task_id: facts.task_id, source: facts.source, fault: facts.fault }, 'a stream was not reachable');
    },
    resultsLate: ({ taskId }: Task) => {
      alarm('results_late');
      logger.warn({ task_id: taskId }, 'a task ended before its frames could be read');
    },
    massMissing: ({ taskId }: Task) => {
      alarm('mass_vanishing');
      logger.error({ task_id: taskId }, 'many jobs missing at the backend; their tasks are not failed');
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
    deleted: ({ taskId, subject, kind }: DeletedTask) => {
      deletions.add(1, { kind });
      logger.info({ task_id: taskId, subject, kind }, 'the owner of a task deleted it');
    },
    reconcileLag: (seconds: number) => lag.record(seconds),
    ...slotSignals(logger),
    census: createCensus(),
  };
}

/**
 * Outcome of a wait for a slot. `unneeded`: the subject has no unit left. `unanswered`: the backend did not answer in
 * time, or its breaker is open.
 */
export type SlotAnswer = 'granted' | 'refused' | 'unneeded' | 'unanswered';

/** Create requests that wait for a slot at the backend. */
function slotSignals(logger: Logger) {
  const placeWaits = createHistogram(metrics.placeWaits);
  return {
    /** @param countOf number of create requests of a kind that wait in this replica */
    observeSlotWaits: (countOf: (kind: VideoKind) => number) => {
      observe(metrics.placesAwaited, (tell) => videoKinds.forEach((kind) => tell(countOf(kind), { kind })));
    },
    slotAnswered: (
      { task_id, kind, waitedMs }: { task_id: string; kind: VideoKind; waitedMs: number },
      outcome: SlotAnswer,
    ) => {
      placeWaits.record(waitedMs / 1000, { kind, outcome });
      if (outcome === 'refused')
        logger.info(
          { task_id, kind, waited_ms: Math.round(waitedMs) },
          'create request refused: no capacity slot at the backend',
        );
    },
  };
}

/** The operator of a move, if an operator made it. */
function whoMoved(change: Change): string | undefined {
  if ('who' in change) return change.who;
  return change.move === 'stop' && typeof change.by !== 'string' ? change.by.operator : undefined;
}

interface Census {
  byStatus: Partial<Record<Status, number>>;
  oldestResolvingS: number;
  oldestUnconfirmedS: number;
}

/** Gauges of the last census. @returns a function that stores the next one; undefined while there is none */
function createCensus(): (next: Census | undefined) => void {
  let last: Census | undefined;
  observe(metrics.active, (tell) => {
    if (last) for (const status of activeStatuses) tell(last.byStatus[status] ?? 0, { status });
  });
  observe(metrics.oldestResolving, (tell) => {
    if (last) tell(last.oldestResolvingS);
  });
  observe(metrics.oldestDeletion, (tell) => {
    if (last) tell(last.oldestUnconfirmedS);
  });
  return (next) => {
    last = next;
  };
}
