import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { chartDir } from '../examples.ts';

export interface Load {
  stop: () => Promise<{ requests: number; failed: string[] }>;
}

/** Callers that ask one thing after the other: pictures, lists of tasks, usage. None of it is repeated. */
export function startLoad(baseUrl: string, key: string): Load {
  const picture = readFileSync(join(chartDir, 'files/smoke/picture.jpg'));
  const outcome = { requests: 0, failed: [] as string[] };
  const flags = { isStopping: false };
  const ask = async (method: string, path: string, body?: FormData) => {
    outcome.requests += 1;
    try {
      const headers = { authorization: `Bearer ${key}`, 'idempotency-key': randomUUID() };
      const reply = await fetch(baseUrl + path, {
        method,
        headers,
        body: body ?? null,
        signal: AbortSignal.timeout(60_000),
      });
      const text = await reply.text();
      if (!reply.ok || text.includes('"failed"')) outcome.failed.push(`${method} ${path}: ${reply.status} ${text}`);
    } catch (error) {
      outcome.failed.push(`${method} ${path}: ${String(error)} ${String((error as Error).cause)}`);
    }
  };
  const pictures = async () => {
    const form = new FormData();
    form.set('scene_code', 'person_vehicle');
    form.append('files', new Blob([picture], { type: 'image/jpeg' }), 'picture.jpg');
    await ask('POST', '/v1/vision/image-detections', form);
  };
  const rounds: (() => Promise<void>)[] = [
    pictures,
    () => ask('GET', '/v1/vision/tasks?limit=10'),
    () => ask('GET', '/v1/vision/usage'),
  ];
  const callers = rounds.map(async (round) => {
    while (!flags.isStopping) {
      await round();
      await delay(200);
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
