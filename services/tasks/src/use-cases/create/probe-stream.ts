import { fail } from '@vision/contracts/errors';
import type { StreamUrl } from '@vision/streams/stream-url';
import { inNamedSpan } from '@vision/shared/telemetry/in-span';
import type { Task } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';

type ProbeDeps = Pick<Deps, 'probe' | 'probeLimits' | 'signals' | 'settings'>;

/** Failures are answered in the last fifth of the time for a probe. */
const EARLIEST_ANSWER = 0.8;

/** The time of one probe. */
export interface ProbeTime {
  /** Aborts when a failure is to be answered. */
  signal: AbortSignal;
  /** Milliseconds until then. */
  leftMs: () => number;
  /** Resolves then. */
  holdBack: () => Promise<void>;
}

/**
 * Looks whether a stream is there and gives the address that was talked to.
 * @throws AppError OP-TASK-REQUEST-INVALID `stream_unreachable`, OP-QUOTA-RATE-LIMITED `probe_rate`.
 */
export async function probeStream(deps: ProbeDeps, { taskId, subject }: Task, url: StreamUrl): Promise<string> {
  return inProbe(deps, subject, (time) => reachStream(deps, { url, taskId }, time));
}

/**
 * Runs a probe. The moment at which its failures are answered is drawn before anything is tried, so no caller learns
 * what stands behind our address or name servers. Until then it counts among the probes of the subject, or the next one
 * would tell when it ended.
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

/** Makes the handshake of a probe. Every failure has the same words, and is held back. @throws as `probeStream` */
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

/** Which of its checks a stream did not pass is for the log: the answer must not help to look around in networks. */
export const streamUnreachable = () =>
  fail.requestInvalid('stream_unreachable', 'The stream could not be reached or did not answer as a stream.', {
    field: 'stream_url',
  });
