import CircuitBreaker from 'opossum';
import { fail } from '@vision/contracts/errors';
import { callUpstream } from '../upstream/call-upstream.ts';
import type { UpstreamName } from '../upstream/call-upstream.ts';
import type { AppError } from '@vision/contracts/errors';
import { createCounter, observe } from '../telemetry/instruments.ts';
import { breakerMetrics } from '../telemetry/shared-metrics.ts';

/**
 * What one call says about the other side: `neutral` outcomes (a refusal with reason, a client that left) say nothing.
 */
export type Verdict = 'ok' | 'fault' | 'neutral';

export interface BreakerOptions {
  /** Whom the calls go to and what they ask; `inference.submit` in metrics. */
  upstream: UpstreamName;
  operation: string;
  /** Milliseconds from opening until one call may try again. */
  resetMs: number;
  /** Calls within the window below which nothing opens the breaker. */
  volume?: number | undefined;
}

/** Longer than the slowest call, or slow failures never gather. */
const WINDOW_MS = 30_000;

export type BreakerState = 'closed' | 'half-open' | 'open';

export interface Breaker {
  /**
   * Makes the call unless the breaker is open, and counts it by its verdict. `work` owns its deadline. A call that is
   * not made has a span too, which says why.
   * @throws AppError OP-TASK-BREAKER-OPEN when the call was not made; any error of `work`.
   */
  run: <T>(work: () => Promise<T>, classify: (result: Settled<T>) => Verdict) => Promise<T>;
  /** @throws AppError OP-TASK-BREAKER-OPEN when a call would be refused now. */
  assertAccepting: () => void;
  state: () => BreakerState;
  /** Ends its timers. */
  shutdown: () => void;
}

export type Settled<T> = { value: T } | { error: unknown };

/** So many failures after the last success open the breaker, once that success is this old. */
const FAILED_SINCE_SUCCESS = 20;
const SUCCESS_AGE_MS = 2_000;

/**
 * A circuit breaker per operation and process. It opens when more than half of at least `volume` calls in the window
 * failed; and when 20 calls that began after the last success have failed and that success is 2 s old, because on a
 * busy system the window holds so many successes that a total outage would need as many failures.
 *
 * opossum keeps the statistics, the state and the timer. A call is reported to it after it has ended, because opossum
 * counts every call it starts: an ignored error would count as a success, close a half-open breaker and dilute the
 * error rate. So neutral outcomes are never reported, and neither is the outcome of a call that started before the last
 * change of state.
 */
export function createBreaker(options: BreakerOptions): Breaker {
  const { upstream, operation, resetMs } = options;
  let era = 0;
  let probing = false;
  let opensUntil = 0;
  let streak = createStreak();
  const changed = () => {
    era += 1;
    probing = false;
    streak = createStreak();
  };
  const start = () =>
    createCircuit(options)
      .on('open', () => {
        changed();
        opensUntil = performance.now() + resetMs;
        signals.opened();
      })
      .on('halfOpen', changed)
      .on('close', () => {
        changed();
        // The window would still hold the failures from before, and the first new one would open it again.
        circuit.shutdown();
        circuit = start();
      });
  let circuit = start();
  const signals = createSignals(nameOf(options), () => stateOf(circuit));
  const refusal = (): AppError | undefined => {
    if (circuit.closed || (circuit.halfOpen && !probing)) return undefined;
    return fail.breakerOpen(Math.max(1, Math.ceil((opensUntil - performance.now()) / 1000)));
  };
  const assertAccepting = () => {
    const refused = refusal();
    if (!refused) return;
    signals.count('rejected');
    throw refused;
  };
  const report = async (call: { era: number; number: number }, verdict: Verdict) => {
    signals.count(verdict);
    if (call.era !== era) return;
    probing = false;
    if (verdict === 'neutral') return;
    const isOutage = streak.ended(call.number, verdict);
    await circuit.fire(verdict === 'fault').catch(() => undefined);
    if (isOutage && circuit.closed) circuit.open();
  };
  return {
    assertAccepting,
    state: () => stateOf(circuit),
    shutdown: () => circuit.shutdown(),
    async run(work, classify) {
      if (refusal()) await callUpstream({ upstream, operation, breakerState: 'open' }, async () => assertAccepting());
      probing = circuit.halfOpen;
      const begun = { era, number: streak.began() };
      const settled = await settle(work);
      await report(begun, classify(settled));
      if ('error' in settled) throw settled.error;
      return settled.value;
    },
  };
}

async function settle<T>(work: () => Promise<T>): Promise<Settled<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    return { error };
  }
}

/** Counts the failures since the last success; calls that were under way at that success say nothing. */
function createStreak() {
  let begun = 0;
  let begunAtSuccess = 0;
  let failed = 0;
  let succeededAt = performance.now();
  return {
    /** The number of a call that begins now. */
    began: () => (begun += 1),
    /** Whether the failures in a row are an outage. */
    ended: (number: number, verdict: 'ok' | 'fault'): boolean => {
      if (verdict === 'ok') {
        begunAtSuccess = begun;
        failed = 0;
        succeededAt = performance.now();
      } else if (number > begunAtSuccess) {
        failed += 1;
      }
      return failed >= FAILED_SINCE_SUCCESS && performance.now() - succeededAt >= SUCCESS_AGE_MS;
    },
  };
}

const nameOf = ({ upstream, operation }: BreakerOptions) => `${upstream}.${operation}`;

function createCircuit(options: BreakerOptions): CircuitBreaker<[boolean], void> {
  const { resetMs, volume = 10 } = options;
  const report = async (failed: boolean) => {
    if (failed) throw new Error('the call failed');
  };
  return new CircuitBreaker(report, {
    name: nameOf(options),
    resetTimeout: resetMs,
    volumeThreshold: volume,
    rollingCountTimeout: WINDOW_MS,
    timeout: false,
    errorThresholdPercentage: 50,
    rollingCountBuckets: 10,
    rollingPercentilesEnabled: false,
  });
}

function stateOf(circuit: Pick<CircuitBreaker, 'opened' | 'halfOpen'>): BreakerState {
  return circuit.opened ? 'open' : circuit.halfOpen ? 'half-open' : 'closed';
}

const stateValues: Record<BreakerState, number> = { closed: 0, 'half-open': 1, open: 2 };

function createSignals(name: string, state: () => BreakerState) {
  const calls = createCounter(breakerMetrics.calls, { name });
  const opened = createCounter(breakerMetrics.opened, { name });
  observe(breakerMetrics.state, (tell) => tell(stateValues[state()], { name }));
  return {
    count: (outcome: Verdict | 'rejected') => calls.add(1, { outcome }),
    opened: () => opened.add(1),
  };
}
