import { countFramesOfTasks, deleteResults } from '@vision/contracts/results';
import { createBreaker } from '@vision/shared/http/breaker';
import type { BreakerState } from '@vision/shared/http/breaker';
import { createServiceClient } from '@vision/shared/http/service-client';
import type { TokenSigner } from '@vision/shared/http/service-token';
import type { Logger } from '@vision/shared/logger';
import type { ReadableFrames } from '../domain/job-progress.ts';

export interface ResultsClient {
  /**
   * Readable frames of up to 100 tasks; tasks unknown to results are left out.
   * @throws AppError of kind `unavailable`, at once while results has not answered for a while.
   */
  countFrames: (taskIds: string[]) => Promise<ReadonlyMap<string, ReadableFrames>>;
  /** Removes all data of up to 100 tasks; returns those completely removed. @throws AppError `unavailable`. */
  delete: (taskIds: string[]) => Promise<string[]>;
  /** For operators. */
  breakers: () => { name: string; state: BreakerState }[];
  /** Ends the timers of the breaker. */
  close: () => void;
}

export interface ResultsClientOptions {
  baseUrl: string;
  signer: TokenSigner;
  timeoutMs: number;
  breakerResetMs: number;
  logger: Logger;
}

/** Subject of a query about tasks of many subjects. */
const SUBJECT = 'tasks';
/** Calls are sequential, and each may take its whole timeout. */
const VOLUME = 3;
const BREAKER = { upstream: 'results', operation: 'stored_frames' } as const;

export function createResultsClient({ breakerResetMs, ...options }: ResultsClientOptions): ResultsClient {
  const { ask } = createServiceClient({ ...options, audience: 'results' });
  const breaker = createBreaker({ ...BREAKER, resetMs: breakerResetMs, volume: VOLUME });
  return {
    countFrames: async (taskIds) => {
      const question = () => ask(countFramesOfTasks, { subject: SUBJECT, body: { task_ids: taskIds } });
      const { items } = await breaker.run(question, (settled) => ('value' in settled ? 'ok' : 'fault'));
      return new Map(
        items.map((item) => [item.task_id, { frames: item.frames_stored, completedAttempt: item.completed_attempt }]),
      );
    },
    delete: async (taskIds) => (await ask(deleteResults, { subject: SUBJECT, body: { task_ids: taskIds } })).task_ids,
    breakers: () => [{ name: `${BREAKER.upstream}.${BREAKER.operation}`, state: breaker.state() }],
    close: () => breaker.shutdown(),
  };
}
