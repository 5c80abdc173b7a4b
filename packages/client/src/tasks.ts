import { dataOf, optional } from './api.ts';
import { newKey } from './connection.ts';
import { sendForm } from './forms.ts';
import { pause } from './retries.ts';
import type { Api } from './api.ts';
import type { Connection } from './connection.ts';
import type { CreateOptions } from './forms.ts';
import type { UploadProgress } from './upload-progress.ts';
import type { ImageDetection, NewStreamTask, QueryOf, Task, TaskStatus } from './types.ts';

export type StreamOptions = CreateOptions & QueryOf<'createStreamTask'>;
export type UploadOptions = CreateOptions &
  QueryOf<'createUploadTask'> & {
    scene_code: string;
    /** Name of a file that is a Blob. */
    fileName?: string | undefined;
    onProgress?: ((progress: UploadProgress) => void) | undefined;
  };
export type DetectOptions = CreateOptions & QueryOf<'createImageDetection'> & { scene_code?: string };

const FINAL: TaskStatus[] = ['stopped', 'succeeded', 'failed', 'refunded'];
const FIRST_POLL_MS = 250;
const LONGEST_POLL_MS = 5000;

/** What creates tasks and follows their states. */
export function createTaskCalls(connection: Connection, api: Api) {
  async function task(taskId: string, signal?: AbortSignal): Promise<Task> {
    const params = { path: { task_id: taskId } };
    return dataOf(await api.GET('/v1/vision/tasks/{task_id}', { params, ...optional(signal) }));
  }

  return {
    task,

    /** Creates a task for a stream. `submitting` and `resolving` mean that it is accepted: do not create another. */
    async watchStream(body: NewStreamTask, options: StreamOptions = {}): Promise<Task> {
      const { idempotencyKey = newKey(), signal, ...query } = options;
      const params = { header: { 'Idempotency-Key': idempotencyKey }, query };
      return dataOf(await api.POST('/v1/vision/tasks', { params, body, ...optional(signal) }));
    },

    /** Creates a task for a video, MP4 or MOV. */
    async uploadVideo(file: Blob, options: UploadOptions): Promise<Task> {
      const { scene_code, fileName, idempotencyKey, signal, onProgress, ...query } = options;
      const form = new FormData();
      form.append('scene_code', scene_code);
      form.append('file', file, fileName ?? nameOf(file, 'video.mp4'));
      return sendForm(connection, { path: '/v1/vision/video-tasks', query, form, idempotencyKey, signal, onProgress });
    },

    /** Detects objects in 1 to 10 images. */
    async detect(files: Blob[], options: DetectOptions = {}): Promise<ImageDetection> {
      const { scene_code, idempotencyKey, signal, ...query } = options;
      const form = new FormData();
      if (scene_code !== undefined) form.append('scene_code', scene_code);
      for (const file of files) form.append('files', await typed(file), nameOf(file, 'image'));
      return sendForm(connection, { path: '/v1/vision/image-detections', query, form, idempotencyKey, signal });
    },

    async stop(taskId: string): Promise<Task> {
      const params = { path: { task_id: taskId } };
      return dataOf(await api.POST('/v1/vision/tasks/{task_id}/stop', { params }));
    },

    /** The task once it has ended: `stopped`, `succeeded`, `failed` or `refunded`. */
    async waitFor({ task_id: taskId }: Pick<Task, 'task_id'>, signal?: AbortSignal): Promise<Task> {
      for (let waitMs = FIRST_POLL_MS; ; waitMs = Math.min(waitMs * 1.5, LONGEST_POLL_MS)) {
        const current = await task(taskId, signal);
        if (FINAL.includes(current.status)) return current;
        await pause(waitMs, signal);
      }
    },
  };
}

/** The service requires a media type for each image; an undeclared one follows from the first bytes. */
async function typed(file: Blob): Promise<Blob> {
  if (file.type !== '') return file;
  const start = String.fromCharCode(...new Uint8Array(await file.slice(0, 12).arrayBuffer()));
  const name = /^\xff\xd8/.test(start)
    ? 'jpeg'
    : /^\x89PNG/.test(start)
      ? 'png'
      : /^RIFF.{4}WEBP/s.test(start) && 'webp';
  return name ? file.slice(0, file.size, `image/${name}`) : file;
}

const nameOf = (file: Blob, otherwise: string) =>
  'name' in file && typeof file.name === 'string' ? file.name : otherwise;
