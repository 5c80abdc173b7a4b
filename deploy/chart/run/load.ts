import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { chartDir } from '../examples.ts';

export interface Outcome {
  requests: number;
  videos: number;
  failed: string[];
}

export interface Load {
  /** Stops the callers after their current requests. */
  stop: () => Promise<Outcome>;
}

const PAUSE_MS = 100;
/** Time limit of one video: when a worker is replaced, another one continues only after the lease has expired. */
const VIDEO_MS = 240_000;
const UNDER_WAY = ['submitting', 'resolving', 'running', 'stopping'];

/**
 * Starts callers that repeat one kind of request each: images, videos with their results, task lists, usage. No request
 * is retried; every response except a success counts as failed, and so does a video that does not succeed.
 */
export function startLoad(baseUrl: string, key: string): Load {
  const outcome: Outcome = { requests: 0, videos: 0, failed: [] };
  const flags = { isStopping: false };
  const caller = createCaller({ baseUrl, key }, outcome);
  const rounds: (() => Promise<unknown>)[] = [
    () => caller.upload('image-detections', 'files', 'picture.jpg', 'image/jpeg'),
    () => caller.ask('GET', 'tasks?limit=10'),
    () => caller.ask('GET', 'usage'),
    () => video(caller, outcome),
  ];
  const callers = rounds.map(async (round) => {
    while (!flags.isStopping) {
      await round().catch((error: unknown) => outcome.failed.push(String(error)));
      await delay(PAUSE_MS);
    }
  });
  return {
    stop: async () => {
      flags.isStopping = true;
      await Promise.all(callers);
      return outcome;
    },
  };
}

type Caller = ReturnType<typeof createCaller>;

function createCaller({ baseUrl, key }: { baseUrl: string; key: string }, outcome: Outcome) {
  const ask = async (method: string, path: string, body?: FormData): Promise<Record<string, unknown>> => {
    outcome.requests += 1;
    const headers = { authorization: `Bearer ${key}`, 'idempotency-key': randomUUID() };
    const signal = AbortSignal.timeout(60_000);
    const url = `${baseUrl}/v1/vision/${path}`;
    const asked = `${new Date().toISOString()} ${method} ${path}`;
    try {
      const reply = await fetch(url, { method, headers, body: body ?? null, signal });
      const text = await reply.text();
      if (!reply.ok || text.includes('"failed"')) throw new Error(`${reply.status} ${text}`);
      return JSON.parse(text) as Record<string, unknown>;
    } catch (error) {
      throw new Error(`${asked}: ${inspect(error, { breakLength: Infinity })}`, { cause: error });
    }
  };
  return {
    ask,
    upload: (path: string, field: string, file: string, type: string) => {
      const form = new FormData();
      form.set('scene_code', 'person_vehicle');
      form.append(field, new Blob([readFileSync(join(chartDir, 'files/smoke', file))], { type }), file);
      return ask('POST', path, form);
    },
  };
}

/** One video from its upload to its last frame. */
async function video(caller: Caller, outcome: Outcome): Promise<void> {
  const deadline = Date.now() + VIDEO_MS;
  let task = await caller.upload('video-tasks', 'file', 'video.mp4', 'video/mp4');
  const id = String(task['task_id']);
  while (UNDER_WAY.includes(String(task['status']))) {
    if (Date.now() > deadline) throw new Error(`video task ${id} is still ${String(task['status'])}`);
    await delay(5 * PAUSE_MS);
    task = await caller.ask('GET', `tasks/${id}`);
  }
  if (task['status'] !== 'succeeded') throw new Error(`video task ${id} ended as ${String(task['status'])}`);
  const { items } = await caller.ask('GET', `tasks/${id}/results?limit=100`);
  if (!Array.isArray(items) || items.length === 0) throw new Error(`video task ${id} has no frames`);
  outcome.videos += 1;
}
