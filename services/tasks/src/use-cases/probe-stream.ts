import { fail } from '@vision/contracts/errors';
import type { StreamUrl } from '@vision/streams/stream-url';
import { inNamedSpan } from '@vision/shared/telemetry/in-span';
import type { Task } from '../domain/task.ts';
import type { Deps } from './deps.ts';

type ProbeDeps = Pick<Deps, 'probe' | 'probeLimits' | 'signals' | 'settings'>;

/** Failures are answered in the last fifth of the time for a probe. */
const EARLIEST_ANSWER = 0.8;

/**
 * Looks whether a stream is there and gives the address that was talked to. Every failure has the same words and comes
 * at a moment that was drawn before anything was tried, so nobody learns what stands behind our address or name
 * servers. Until then it counts among the probes of the subject, or the next one would tell when it ended.
 * @throws AppError OP-TASK-REQUEST-INVALID `stream_unreachable`, OP-QUOTA-RATE-LIMITED `probe_rate`.
 */
export async function probeStream(deps: ProbeDeps, { taskId, subject }: Task, url: StreamUrl): Promise<string> {
  const { probe, probeLimits, signals, settings } = deps;
  return probeLimits.run(subject, async () => {
    const answerMs = settings.probeTotalMs * (EARLIEST_ANSWER + (1 - EARLIEST_ANSWER) * Math.random());
    const givenUp = new AbortController();
    const answerDue = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      givenUp.abort();
      answerDue.resolve();
    }, answerMs);
    try {
      const found = await probe(url, givenUp.signal);
      if (found.outcome === 'reached') {
        signals.streamReached({ scheme: url.scheme });
        return found.pinnedAddress;
      }
      signals.streamUnreachable({ task_id: taskId, scheme: url.scheme, source: url.label, fault: found.fault });
      await inNamedSpan('hold the answer back', () => answerDue.promise);
      throw streamUnreachable();
    } finally {
      clearTimeout(timer);
    }
  });
}

/** Which of its checks a stream did not pass is for the log: the answer must not help to look around in networks. */
export const streamUnreachable = () =>
  fail.requestInvalid('stream_unreachable', 'The stream could not be reached or did not answer as a stream.', {
    field: 'stream_url',
  });
