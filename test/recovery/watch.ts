import { setTimeout as delay } from 'node:timers/promises';
import sharp from 'sharp';
import type { Answer, Caller } from '../support/system.ts';

const PAUSE_MS = 100;
/** As long as clients of other suites wait for an answer. */
const PATIENCE_MS = 40_000;

interface Requests {
  total: number;
  /** Those that failed: what was asked, how it ended, and between which times, by `performance.now()`. */
  failures: { what: string; outcome: string; begunAt: number; endedAt: number }[];
}

/** Asks for what each service answers, again and again, until the signal fires. */
export async function watchRequests(caller: Caller, taskId: string, over: AbortSignal): Promise<Requests> {
  const { form, jpeg, scene } = await import('../support/system.ts');
  const image = jpeg(
    await sharp({ create: { width: 64, height: 48, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer(),
  );
  const signal = () => AbortSignal.timeout(PATIENCE_MS);
  const kinds: Record<string, () => Promise<Answer>> = {
    'image call': () => caller.detect(form(scene('person_vehicle'), image), undefined, signal()),
    task: () => caller.send('GET', `/v1/vision/tasks/${taskId}`, { signal: signal() }),
    frames: () => caller.send('GET', `/v1/vision/tasks/${taskId}/results?limit=5`, { signal: signal() }),
    usage: () => caller.send('GET', '/v1/vision/usage', { signal: signal() }),
  };
  const seen: Requests = { total: 0, failures: [] };
  const ask = async ([what, send]: [string, () => Promise<Answer>]) => {
    while (!over.aborted) {
      const begunAt = performance.now();
      const outcome = await send().then(
        ({ status, body }) =>
          status < 500 ? undefined : `${status} ${(body['details'] as { reason: string }).reason}`,
        (error: unknown) => (error instanceof Error ? error.name : 'no answer'),
      );
      seen.total += 1;
      if (outcome) seen.failures.push({ what, outcome, begunAt, endedAt: performance.now() });
      await delay(PAUSE_MS);
    }
  };
  await Promise.all(Object.entries(kinds).flatMap((kind) => [ask(kind), ask(kind)]));
  return seen;
}

interface Frames {
  /** Longest time in which a reader got no new frame. */
  longestGapMs: number;
  /** Numbers that were passed over. */
  missing: number;
}

/** Reads the frames of a live task as they become readable, until the signal fires. */
export async function watchFrames(caller: Caller, taskId: string, over: AbortSignal): Promise<Frames> {
  let cursor = '';
  let lastAt = performance.now();
  let lastSeq: number | undefined;
  const seen: Frames = { longestGapMs: 0, missing: 0 };
  while (!over.aborted) {
    const path = `/v1/vision/tasks/${taskId}/results?limit=200${cursor && `&cursor=${cursor}`}`;
    const page = await caller.send('GET', path, { signal: AbortSignal.timeout(PATIENCE_MS) }).catch(() => undefined);
    const items = page?.status === 200 ? (page.body['items'] as { frame_id: string }[]) : [];
    if (items.length > 0) {
      // What was there before is read first, at any pace.
      if (lastSeq !== undefined) seen.longestGapMs = Math.max(seen.longestGapMs, performance.now() - lastAt);
      for (const { frame_id } of items) {
        const seq = Number(frame_id.split('-').at(-1));
        seen.missing += lastSeq === undefined ? 0 : seq - lastSeq - 1;
        lastSeq = seq;
      }
      lastAt = performance.now();
      cursor = (page?.body['resume_cursor'] as string | undefined) || cursor;
    }
    await delay(PAUSE_MS);
  }
  return seen;
}
