import CircuitBreaker from 'opossum';
import { fail } from '../errors.ts';
import type { AppError } from '../errors.ts';
import { meter } from '../telemetry.ts';

/**
 * What one call says about the other side: `neutral` outcomes (a refusal with reason, a client that left) say nothing.
 */
export type Verdict = 'ok' | 'fault' | 'neutral';

export interface BreakerOptions {
  /** Shown in metrics: `inference.submit`. */
  name: string;
  /** Milliseconds from opening until one call may try again. */
  resetMs: number;
  /** Calls within the window below which nothing opens the breaker. */
  volume?: number | undefined;
  /** Length of the window in milliseconds; longer than the slowest call, or slow failures never gather. */
  windowMs?: number | undefined;
}

export type BreakerState = 'closed' | 'half-open' | 'open';

export interface Breaker {
  /**
   * Makes the call unless the breaker is open, and counts it by its verdict. `work` owns its deadline.
   * @throws AppError OP-TASK-BREAKER-OPEN when the call was not made, else whatever `work` throws.
   */
  run: <T>(work: () => Promise<T>, judge: (result: Settled<T>) => Verdict) => Promise<T>;
  /** @throws AppError OP-TASK-BREAKER-OPEN when a call would be refused now. */
  assertAccepting: () => void;
  state: () => BreakerState;
  /** Ends its timers. */
  shutdown: () => void;
}

export type Settled<T> = { value: T } | { error: unknown };

/**
 * A circuit breaker per operation and process: opens when more than half of at least `volume` calls in
 * the window failed.
 *
 * opossum keeps the statistics, the state and the timer. A call is reported to it after it has ended, because opossum
 * counts every call it starts: an ignored error would count as a success, close a half-open breaker and dilute the
 * error rate. So neutral outcomes are never reported, and neither is the outcome of a call that started before the last
 * change of state.
 */
export function createBreaker({ name, resetMs, volume = 10, windowMs = 30_000 }: BreakerOptions): Breaker {
  let era = 0;
  let probing = false;
  let opensUntil = 0;
  const changed = () => {
    era += 1;
    probing = false;
  };
  const start = () =>
    createCircuit({ name, resetTimeout: resetMs, volumeThreshold: volume, rollingCountTimeout: windowMs })
      .on('open', () => {
        changed();
        opensUntil = Date.now() + resetMs;
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
  const signals = createSignals(name, () => stateOf(circuit));
  const refusal = (): AppError | undefined => {
    if (circuit.closed || (circuit.halfOpen && !probing)) return undefined;
    return fail.breakerOpen(Math.max(1, Math.ceil((opensUntil - Date.now()) / 1000)));
  };
  const assertAccepting = () => {
    const refused = refusal();
    if (!refused) return;
    signals.count('rejected');
    throw refused;
  };
  const report = async (startedIn: number, verdict: Verdict) => {
    signals.count(verdict);
    if (startedIn !== era) return;
    probing = false;
    if (verdict !== 'neutral') await circuit.fire(verdict === 'fault').catch(() => undefined);
  };
  return {
    assertAccepting,
    state: () => stateOf(circuit),
    shutdown: () => circuit.shutdown(),
    async run(work, judge) {
      assertAccepting();
      probing = circuit.halfOpen;
      const startedIn = era;
      try {
        const value = await work();
        await report(startedIn, judge({ value }));
        return value;
      } catch (error) {
        await report(startedIn, judge({ error }));
        throw error;
      }
    },
  };
}

function createCircuit(options: CircuitBreaker.Options): CircuitBreaker<[boolean], void> {
  const report = async (failed: boolean) => {
    if (failed) throw new Error('the call failed');
  };
  return new CircuitBreaker(report, {
    ...options,
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
  const signals = meter('shared');
  const calls = signals.createCounter('circuit_breaker.calls', {
    description: 'Calls by what they said about the other side',
  });
  const opened = signals.createCounter('circuit_breaker.opened', { description: 'Times the breaker opened' });
  opened.add(0, { name });
  signals
    .createObservableGauge('circuit_breaker.state', { description: '0 closed, 1 half-open, 2 open' })
    .addCallback((result) => result.observe(stateValues[state()], { name }));
  return {
    count: (outcome: Verdict | 'rejected') => calls.add(1, { name, outcome }),
    opened: () => opened.add(1, { name }),
  };
}
