import createClient from 'openapi-fetch';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { components, paths } from './public-api.ts';

type Schemas = components['schemas'];
export type Task = Schemas['Task'];
export type TaskStatus = Schemas['TaskStatus'];
export type ResultFrame = Schemas['ResultFrame'];
export type ImageDetection = Schemas['ImageDetection'];
export type Problem = Schemas['Problem'];

/** A refusal, with everything that the service said about it. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

export interface ClientOptions {
  baseUrl: string;
  apiKey: string;
  fetch?: (request: Request) => Promise<Response>;
}

export type VisionClient = ReturnType<typeof createVisionClient>;

/**
 * A client as somebody would write it who has nothing but the OpenAPI document: its types are generated from it, so
 * this file compiles only as long as they are worth using.
 */
export function createVisionClient({ baseUrl, apiKey, fetch = globalThis.fetch }: ClientOptions) {
  const api = createClient<paths>({ baseUrl, fetch, headers: { authorization: `Bearer ${apiKey}` } });
  const keyed = () => ({ header: { 'Idempotency-Key': randomUUID() } });

  return {
    async enabledScenes(): Promise<string[]> {
      const { scenes } = dataOf(await api.GET('/api/op/v1/scenes'));
      return scenes.filter(({ enabled }) => enabled).map(({ scene_code }) => scene_code);
    },

    async watchStream(body: Schemas['NewStreamTask']): Promise<Task> {
      return dataOf(await api.POST('/v1/vision/tasks', { params: keyed(), body }));
    },

    async uploadVideo(body: Schemas['NewUploadTask']): Promise<Task> {
      return dataOf(await api.POST('/v1/vision/video-tasks', { params: keyed(), body, bodySerializer: toForm }));
    },

    async detect(body: Schemas['NewImageDetection']): Promise<ImageDetection> {
      return dataOf(await api.POST('/v1/vision/image-detections', { params: keyed(), body, bodySerializer: toForm }));
    },

    async task(taskId: string): Promise<Task> {
      return dataOf(await api.GET('/v1/vision/tasks/{task_id}', { params: { path: { task_id: taskId } } }));
    },

    async stop(taskId: string): Promise<Task> {
      return dataOf(await api.POST('/v1/vision/tasks/{task_id}/stop', { params: { path: { task_id: taskId } } }));
    },

    /** Every frame of a task once, until it is over. */
    async *frames(taskId: string, minScore?: number): AsyncGenerator<ResultFrame> {
      let cursor: string | undefined;
      while (cursor !== '') {
        const query = {
          limit: 200,
          ...(cursor === undefined ? {} : { cursor }),
          ...(minScore === undefined ? {} : { min_score: minScore }),
        };
        const page = dataOf(
          await api.GET('/v1/vision/tasks/{task_id}/results', { params: { path: { task_id: taskId }, query } }),
        );
        yield* page.items;
        cursor = page.resume_cursor;
        if (page.items.length === 0 && cursor !== '') await delay(250);
      }
    },
  };
}

/** What a program does about a refusal. The compiler knows every code: a new one has to be thought about here. */
export function adviceFor({ code, details, retryable }: Problem): string {
  if (code === undefined) return retryable ? 'retry later' : 'look at the address';
  switch (code) {
    case 'OP-AUTH-REQUIRED':
      return 'check the key';
    case 'OP-TASK-REQUEST-INVALID':
      return details.field === undefined ? 'mend the request' : `mend ${details.field}`;
    case 'OP-TASK-SCENE-UNAVAILABLE':
      return `choose another scene than ${details.scene_code ?? 'this one'}`;
    case 'OP-TASK-NOT-STOPPABLE':
      return `nothing: the task is ${details.status ?? 'over'}`;
    case 'OP-QUOTA-DAILY-EXHAUSTED':
      return `wait until ${details.resets_at ?? 'tomorrow'}`;
    case 'OP-QUOTA-RATE-LIMITED':
    case 'OP-TASK-UPSTREAM-DOWN':
    case 'OP-TASK-BREAKER-OPEN':
    case 'OP-SYS-UNAVAILABLE':
      return 'retry later';
  }
}

function dataOf<T>({ data, error }: { data?: T; error?: Problem }): T {
  if (error) throw new RefusedError(error);
  if (data === undefined) throw new Error('an answer without a body');
  return data;
}

function toForm(body: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body) as [string, string | Blob | Blob[] | undefined][]) {
    for (const part of Array.isArray(value) ? value : [value]) if (part !== undefined) form.append(name, part);
  }
  return form;
}
