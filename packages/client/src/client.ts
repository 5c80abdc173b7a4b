import { createApi, dataOf } from './api.ts';
import { createConnection } from './connection.ts';
import { createReaders } from './readers.ts';
import { createTaskCalls } from './tasks.ts';
import type { ClientOptions } from './connection.ts';
import type { Scene, Usage } from './types.ts';

export { VisionError } from './problem.ts';
export type { ClientOptions } from './connection.ts';
export type { CreateOptions } from './forms.ts';
export type { VisionIterator } from './iterator.ts';
export type { Problem } from './problem.ts';
export type { components, operations, paths } from './public-api.ts';
export type { EventOptions, FrameOptions, TrackOptions } from './readers.ts';
export type { DetectOptions, StreamOptions, UploadOptions } from './tasks.ts';
export type {
  Alarm,
  AlarmRule,
  Event,
  ImageDetection,
  NewStreamTask,
  ResultFrame,
  Scene,
  Task,
  TaskStatus,
  Track,
  Usage,
} from './types.ts';
export type { UploadProgress } from './upload-progress.ts';

export type VisionClient = ReturnType<typeof createVisionClient>;

/**
 * A client of the public API. Failed connections and the answers 429 and 503 are retried, for `maxRetryMs` at most and
 * as `Retry-After` asks, under the same Idempotency-Key; every other refusal is thrown as a VisionError.
 */
export function createVisionClient(options: ClientOptions) {
  const connection = createConnection(options);
  const api = createApi(connection);
  return {
    /** Every operation, with the types of the OpenAPI document; refusals are returned as `error`. */
    api,
    ...createTaskCalls(connection, api),
    ...createReaders(connection, api),

    async scenes(): Promise<Scene[]> {
      return dataOf(await api.GET('/api/op/v1/scenes')).scenes;
    },

    async usage(): Promise<Usage> {
      return dataOf(await api.GET('/v1/vision/usage'));
    },
  };
}
