import { countStoredFrames } from '@vision/shared/contracts/results';
import { createServiceClient } from '@vision/shared/http/service-client';
import type { Logger } from '@vision/shared/logger';

export interface ResultsClient {
  /** Frames of a task that can be read. @throws AppError OP-SYS-UNAVAILABLE. */
  countFrames: (subject: string, taskId: string) => Promise<number>;
}

export interface ResultsClientOptions {
  baseUrl: string;
  tokenKey: string;
  timeoutMs: number;
  logger: Logger;
}

export function createResultsClient(options: ResultsClientOptions): ResultsClient {
  const { ask } = createServiceClient({ ...options, issuer: 'tasks', audience: 'results' });
  return {
    countFrames: async (subject, taskId) =>
      (await ask(countStoredFrames, { subject, params: { task_id: taskId } })).frames_stored,
  };
}
