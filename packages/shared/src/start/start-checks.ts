import { setTimeout as delay } from 'node:timers/promises';
import { atMost } from '../async/at-most.ts';
import { untraced } from '../telemetry/trace-context.ts';
import type { Logger } from '../logger.ts';
import { rootMessage, wrong } from './fault.ts';
import type { Fault } from './fault.ts';

export interface StartCheck {
  /** Of the store, for the log. */
  name: string;
  /** Asks once; undefined when the store can be used as it has to be. */
  ask: () => Promise<Fault | undefined>;
  /** Whether a process that cannot reach the store is ready: true where it has something to do without it. */
  readyWhileAway: boolean;
}

export interface StartChecks {
  /** Asks all of them, and again until each was answered well once; resolves after the first answers, or 3 s. */
  start: () => Promise<void>;
  /**
   * Why the process is not ready, one sentence each; empty once it was ready, and for good: what a store answers later
   * must not take every replica out of service at once.
   */
  problems: () => string[];
  stop: () => Promise<void>;
}

const FIRST_ANSWERS_MS = 3_000;
const REMINDER_MS = 60_000;
/** Pause between two attempts of a check. */
export const CHECK_INTERVAL_MS = 1_000;

/** Looks once at everything that a process needs, so that a wrong setting shows at its start and in its readiness. */
export function createStartChecks(checks: StartCheck[], logger: Logger, intervalMs: number): StartChecks {
  const stopping = new AbortController();
  const open = new Map(checks.map((check) => [check.name, `${check.name} was not asked yet`]));
  const loops: Promise<void>[] = [];
  const state = { open, wasReady: open.size === 0, logger, intervalMs, signal: stopping.signal };
  return {
    start: async () => {
      const first = checks.map(async (check) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        loops.push(untraced(() => watch(check, state, resolve)));
        await promise;
      });
      await atMost(FIRST_ANSWERS_MS, Promise.all(first));
    },
    problems: () => [...open.values()],
    stop: async () => {
      stopping.abort();
      await atMost(FIRST_ANSWERS_MS, Promise.all(loops));
    },
  };
}

interface Watch {
  open: Map<string, string>;
  wasReady: boolean;
  logger: Logger;
  intervalMs: number;
  signal: AbortSignal;
}

async function watch(check: StartCheck, state: Watch, answered: () => void) {
  const { open, logger, intervalMs, signal } = state;
  let reported = '';
  let reportedAt = 0;
  let wasWrong = false;
  while (!signal.aborted) {
    const answer = await askSafely(check);
    if (answer?.kind === 'risk') logger.warn({ store: check.name, fault: answer.kind }, answer.sentence);
    const fault = answer?.kind === 'risk' ? undefined : answer;
    wasWrong ||= fault?.kind === 'wrong';
    if (!fault || state.wasReady || (check.readyWhileAway && !wasWrong)) open.delete(check.name);
    else open.set(check.name, fault.sentence);
    state.wasReady ||= open.size === 0;
    if (fault && (fault.sentence !== reported || performance.now() - reportedAt > REMINDER_MS)) {
      reported = fault.sentence;
      reportedAt = performance.now();
      logger.error({ store: check.name, fault: fault.kind }, fault.sentence);
    }
    if (!fault && reported !== '') logger.info({ store: check.name }, 'the start check of a store passes now');
    answered();
    if (!fault) return;
    await delay(intervalMs, undefined, { signal }).catch(() => undefined);
  }
}

async function askSafely(check: StartCheck): Promise<Fault | undefined> {
  try {
    return await check.ask();
  } catch (error) {
    return wrong(`${check.name} cannot be used: ${rootMessage(error)}`);
  }
}
