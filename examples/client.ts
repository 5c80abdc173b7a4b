import { randomUUID } from 'node:crypto';

/** Where the system is and how to get a key; written by `make up` to `.local/env`. */
export interface Access {
  baseUrl: string;
  adminUrl: string;
  adminToken: string;
}

export interface Detected {
  label: string;
  score: number;
  track_id?: string;
  bbox: { cx: number; cy: number; width: number; height: number };
}
export interface Frame {
  frame_id: string;
  frame_time_ms: number;
  image: { width: number; height: number };
  objects: Detected[];
}
export interface Page {
  items: Frame[];
  next_cursor: string;
  resume_cursor: string;
}
export interface Task {
  task_id: string;
  status: string;
  scene_code: string;
}
export interface ImageCall {
  task_id: string;
  results: { seq: number; status: string; objects?: Detected[]; error_code?: string }[];
}

/** A caller of the public API: what any REST client would do, with fetch alone. */
export class VisionClient {
  readonly #baseUrl: string;
  readonly #key: string;

  constructor(baseUrl: string, key: string) {
    this.#baseUrl = baseUrl;
    this.#key = key;
  }

  /** Makes a key of its own through the admin API, as an operator would with `visionctl keys create`. */
  static async withNewKey(access: Access, name: string): Promise<VisionClient> {
    const reply = await fetch(`${access.adminUrl}/admin/v1/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${access.adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    });
    const { key } = (await bodyOf(reply)) as { key: string };
    return new VisionClient(access.baseUrl, key);
  }

  async detect(
    files: { name: string; type: string; bytes: Uint8Array<ArrayBuffer> }[],
    sceneCode: string,
  ): Promise<ImageCall> {
    const form = new FormData();
    form.set('scene_code', sceneCode);
    for (const { name, type, bytes } of files) form.append('files', new Blob([bytes], { type }), name);
    return (await this.#send('POST', '/v1/vision/image-detections', form)) as ImageCall;
  }

  async uploadVideo(name: string, bytes: Uint8Array<ArrayBuffer>, sceneCode: string): Promise<Task> {
    const form = new FormData();
    form.set('scene_code', sceneCode);
    form.set('file', new Blob([bytes], { type: 'video/mp4' }), name);
    return (await this.#send('POST', '/v1/vision/video-tasks', form)) as Task;
  }

  async watchStream(streamUrl: string, sceneCode: string): Promise<Task> {
    return (await this.#send('POST', '/v1/vision/tasks', { stream_url: streamUrl, scene_code: sceneCode })) as Task;
  }

  async task(taskId: string): Promise<Task> {
    return (await this.#send('GET', `/v1/vision/tasks/${taskId}`)) as Task;
  }

  async stop(taskId: string): Promise<Task> {
    return (await this.#send('POST', `/v1/vision/tasks/${taskId}/stop`)) as Task;
  }

  async usage(): Promise<Record<'video' | 'image', { limit: number; used: number }>> {
    return (await this.#send('GET', '/v1/vision/usage')) as Record<'video' | 'image', { limit: number; used: number }>;
  }

  /** Pages of a task as they appear, until everything was delivered; never reads a frame twice, never misses one. */
  async *follow(taskId: string, minScore?: number): AsyncGenerator<Frame[]> {
    let cursor = '';
    for (;;) {
      const query = new URLSearchParams({ limit: '100' });
      if (minScore !== undefined) query.set('min_score', String(minScore));
      if (cursor !== '') query.set('cursor', cursor);
      const page = (await this.#send('GET', `/v1/vision/tasks/${taskId}/results?${query.toString()}`)) as Page;
      if (page.items.length > 0) yield page.items;
      if (page.resume_cursor === '') return;
      cursor = page.resume_cursor;
      if (page.next_cursor === '') await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }

  async #send(method: string, path: string, body?: FormData | Record<string, unknown>): Promise<unknown> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.#key}` };
    if (method === 'POST') headers['idempotency-key'] = randomUUID();
    const isForm = body instanceof FormData;
    if (body && !isForm) headers['content-type'] = 'application/json';
    const payload = isForm ? body : body && JSON.stringify(body);
    return bodyOf(await fetch(this.#baseUrl + path, { method, headers, body: payload ?? null }));
  }
}

async function bodyOf(reply: Response): Promise<unknown> {
  const body: unknown = await reply.json();
  if (reply.ok) return body;
  const { code = '', detail = '', details } = body as { code?: string; detail?: string; details?: unknown };
  throw new Error(`${reply.status} ${code}: ${detail} ${JSON.stringify(details)}`);
}
