import { until } from '@vision/shared/testing/until';
import type { Elsewhere } from '../../services/inference/test/support/live-servers.ts';
import type { Target } from './attack.ts';
import { said } from './say.ts';

/** A server of the attacker's, as far as the attack looks at it. */
interface HostileServer {
  port: number;
  seen: { connections: number };
  close: () => void;
}

/** Connections of one look when a task is created: the probe, and credentials that are asked for. */
const PROBED = 1;
const ENDED = new Set(['failed', 'stopped', 'succeeded', 'refunded']);

/** The task was created, by 201 or 202, and ended without a frame. */
export const NO_FRAMES = 'accepted, no frames';

/**
 * Creates a task for a stream of a hostile server. When it gets past the look at its address, it runs until it has
 * failed, or until it came back for another try; then it is stopped.
 */
export async function watchHostile(
  target: Target,
  scheme: string,
  serve: (elsewhere: Elsewhere) => Promise<HostileServer>,
): Promise<string> {
  const inner = await target.inner();
  const server = await serve({ host: inner.host, port: inner.port, url: inner.url(scheme) });
  target.atEnd(server.close);
  const caller = await target.caller();
  const url = `${scheme}://127.0.0.1:${server.port}/x`;
  const created = await caller.createStream({ scene_code: 'person_vehicle', stream_url: url });
  // A job that is being submitted when the answer is due is accepted, too.
  const isAccepted = created.status === 201 || created.status === 202;
  if (!isAccepted) return said(created);
  const path = `/v1/vision/tasks/${String(created.body['task_id'])}`;
  const statusOf = async () => String((await caller.get(path)).body['status']);
  const isOver = async () => ENDED.has(await statusOf()) || server.seen.connections > PROBED + 1;
  await until(isOver, { timeoutMs: 30_000, intervalMs: 250 });
  if (!ENDED.has(await statusOf())) await caller.send('POST', `${path}/stop`);
  await until(async () => ENDED.has(await statusOf()), { timeoutMs: 20_000, intervalMs: 250 });
  return NO_FRAMES.concat(await framesOf(caller.get(`${path}/results`)));
}

async function framesOf(results: Promise<{ body: Record<string, unknown> }>): Promise<string> {
  const { items } = (await results).body as { items: unknown[] };
  return items.length === 0 ? '' : ` but ${items.length}`;
}
