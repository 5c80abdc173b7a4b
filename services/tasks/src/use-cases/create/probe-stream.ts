import { fail } from '@vision/contracts/errors';
import type { StreamUrl } from '@vision/streams/stream-url';
import { inNamedSpan } from '@vision/shared/telemetry/in-span';
import type { Task } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';

type ProbeDeps = Pick<Deps, 'probe' | 'probeLimits' | 'signals' | 'settings'>;

/** Failures are answered in the last fifth of the time of a probe. */
const EARLIEST_ANSWER = 0.8;

/** The time of one probe. */
export interface ProbeTime {
  /** Aborts when failures are due to be answered. */
  signal: AbortSignal;
  /** Milliseconds until failures are answered. */
  leftMs: () => number;
  /** Resolves when failures are due to be answered. */
  holdBack: () => Promise<void>;
}

/**
 * Probes a stream and returns the address of the connection.
 * @throws AppError OP-TASK-REQUEST-INVALID `stream_unreachable`, OP-QUOTA-RATE-LIMITED `probe_rate`.
 */
export async function probeStream(deps: ProbeDeps, { taskId, subject }: Task, url: StreamUrl): Promise<string> {
  return inProbe(deps, subject, (time) => reachStream(deps, { url, taskId }, time));
}

/**
 * Runs a probe. The time at which failures are answered is drawn before the probe, so it discloses nothing about our
 * network or name servers. Until then the probe counts towards the limits of the subject; otherwise the next probe
 * would reveal when it ended.
 * @throws AppError OP-QUOTA-RATE-LIMITED `probe_rate`; any error of `work`
 */
export async function inProbe<T>(
  { probeLimits, settings }: Pick<Deps, 'probeLimits' | 'settings'>,
  subject: string,
  work: (time: ProbeTime) => Promise<T>,
): Promise<T> {
  return probeLimits.run(subject, async () => {
    const answerMs = settings.probeTotalMs * (EARLIEST_ANSWER + (1 - EARLIEST_ANSWER) * Math.random());
    const answerAt = performance.now() + answerMs;
    const givenUp = new AbortController();
    const answerDue = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      givenUp.abort();
      answerDue.resolve();
    }, answerMs);
    const holdBack = () => inNamedSpan('hold the answer back', () => answerDue.promise);
    try {
      return await work({ signal: givenUp.signal, leftMs: () => answerAt - performance.now(), holdBack });
    } finally {
      clearTimeout(timer);
    }
  });
}

/** Makes the handshake of a probe. Every failure has the same text and is delayed. @throws like `probeStream` */
export async function reachStream(
  { probe, signals }: Pick<Deps, 'probe' | 'signals'>,
  { url, taskId }: { url: StreamUrl; taskId?: string },
  { signal, holdBack }: ProbeTime,
): Promise<string> {
  const found = await probe(url, signal);
  if (found.outcome === 'reached') {
    signals.streamReached({ scheme: url.scheme });
    return found.pinnedAddress;
  }
  const facts = { scheme: url.scheme, source: url.label, fault: found.fault };
  signals.streamUnreachable(taskId === undefined ? facts : { task_id: taskId, ...facts });
  await holdBack();
  throw streamUnreachable();
}

/** The failed check is only logged: the answer must not help to scan networks. */
export const streamUnreachable = () =>
  fail.requestInvalid('stream_unreachable', 'The stream could not be reached or did not answer as a stream.', {
    field: 'stream_url',
  });
