import { storedFramesReply } from '@vision/shared/contracts/results';
import { createServiceClient } from '@vision/shared/http/service-client';

export interface ResultsClient {
  /** Frames of a task that can be read. @throws AppError OP-SYS-UNAVAILABLE. */
  countFrames: (subject: string, taskId: string) => Promise<number>;
}

export function createResultsClient(options: { baseUrl: string; tokenKey: string; timeoutMs: number }): ResultsClient {
  const { call } = createServiceClient({ ...options, issuer: 'tasks', audience: 'results' });
  return {
    countFrames: async (subject, taskId) => {
      const path = `/internal/v1/tasks/${taskId}/stored-frames`;
      return (await call(storedFramesReply, { method: 'GET', path, subject })).frames_stored;
    },
  };
}
