/**
 * `make recovery`: how long callers see failures when the open connections of all processes to a store die without a
 * reset, as when a node loses its network, while new ones work. All times are those of production. `ONLY=store,store`
 * watches some of them. Exit code 1 when a store takes longer than it may.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@vision/shared/testing/until';
import { readSettings } from '../../deploy/local/settings.ts';
import { seeded } from '../faults/random.ts';
import { REAL_SCENE } from '../faults/world/backends.ts';
import { startWorld } from '../faults/world/world.ts';
import { watchFrames, watchRequests } from './watch.ts';

/** Seconds after which nothing may fail any more; for Kafka, those that readers may wait for new frames. */
const limits = { postgres: 15, redis: 10, kafka: 30 } as const;
type Watched = keyof typeof limits;

/** The server's end of a dead connection is closed after this, as by the keepalive that sessions ask PostgreSQL for. */
const KEEPALIVE_MS = 12_000;
const BEFORE_MS = 10_000;
const AFTER_MS = 60_000;

const only = (process.env['ONLY'] ?? '').split(',').filter(Boolean);
const watched = (Object.keys(limits) as Watched[]).filter((store) => only.length === 0 || only.includes(store));
const say = (text: string) => console.log(`recovery   ${text}`);

process.env['VISION_QUIET'] = '1';
const world = await startWorld(readSettings(), {
  folder: 'recovery',
  random: seeded(1),
  env: { NODE_ENV: 'test', LOG_LEVEL: 'info', DETECT_THREADS: '1', DECODE_MAX_SIDE: '160' },
});
Object.assign(process.env, { BASE_URL: world.baseUrl, ADMIN_URL: world.adminUrl, ADMIN_TOKEN: world.adminToken });
// Reads the addresses above when it is loaded.
const { Caller } = await import('../support/system.ts');

let isLate = false;
try {
  const caller = await Caller.create({ requests_per_second: 1_000, burst: 2_000, images_per_day: 100_000 });
  const stream_url = world.streams.live[0]?.url;
  const created = await caller.createStream({ scene_code: REAL_SCENE, stream_url });
  const taskId = String(created.body['task_id']);
  if (created.status !== 201) throw new Error(`no stream to watch: ${created.text}`);
  await until(async () => (await caller.get(`/v1/vision/tasks/${taskId}/results?limit=1`)).text.includes('frame_id'));
  for (const store of watched) isLate = !(await strike(store, caller, taskId)) || isLate;
} finally {
  await world.close();
}
process.exit(isLate ? 1 : 0);

async function strike(store: Watched, caller: InstanceType<typeof Caller>, taskId: string): Promise<boolean> {
  const over = new AbortController();
  const requests = watchRequests(caller, taskId, over.signal);
  const frames = watchFrames(caller, taskId, over.signal);
  await delay(BEFORE_MS);
  const struckAt = performance.now();
  for (const link of world.linksTo(store)) link.set({ kind: 'dead', serverNoticesMs: KEEPALIVE_MS }, 'store');
  for (const link of world.linksTo(store)) link.set({ kind: 'none' }, 'store');
  await delay(AFTER_MS);
  over.abort();
  const { failures, total } = await requests;
  const { longestGapMs, missing } = await frames;
  const since = (at: number) => (at - struckAt) / 1_000;
  const failingS = Math.max(0, ...failures.map(({ endedAt }) => since(endedAt)));
  const gapS = longestGapMs / 1_000;
  for (const { what, outcome, begunAt, endedAt } of failures)
    say(`  ${what}: ${outcome} (${since(begunAt).toFixed(1)} to ${since(endedAt).toFixed(1)} s)`);
  say(
    `${store}: ${failures.length} of ${total} requests failed, the last one ${failingS.toFixed(1)} s after the ` +
      `connections died; no new frames for ${gapS.toFixed(1)} s, ${missing} frames missing`,
  );
  const tookS = store === 'kafka' ? Math.max(failingS, gapS) : failingS;
  if (tookS > limits[store]) say(`${store}: more than ${limits[store]} s`);
  return tookS <= limits[store] && missing === 0;
}
