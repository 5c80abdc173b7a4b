import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testMetrics } from '@vision/shared/testing/metrics';
import { until } from '@vision/shared/testing/until';
import { jobWorld, serveVideo } from './support/job-service.ts';
import type { JobService, JobWorld } from './support/job-service.ts';
import { street } from './support/live-watch.ts';
import { videoDirectory } from './support/videos.ts';

const VIDEO_S = 60;
const BURST_MS = 2_600;
const SMALL = ['-vf', 'scale=320:-2', '-c:v', 'libx264', '-preset', 'ultrafast', '-b:v', '200k', '-g', '5'];
const metrics = testMetrics();
let world: JobWorld;
let inference: JobService;
let videos: Awaited<ReturnType<typeof videoDirectory>>;

beforeAll(async () => {
  [world, videos] = await Promise.all([jobWorld(), videoDirectory()]);
  // Any machine decodes and detects two small frames a second in time, so frames are skipped because of the camera.
  inference = await world.start({ LIVE_JOBS_PER_WORKER: '0', SAMPLE_FPS: '2' });
});
afterAll(async () => {
  await inference.close();
  await world.close();
  await videos.remove();
});

/** A camera behind a relay that holds all data back for 2.6 s: its clock is right, its bytes come in bursts. */
async function burstSource() {
  const times = String(VIDEO_S / 12 - 1);
  const bytes = await readFile(
    await videos.make('long.ts', '-stream_loop', times, '-i', street, ...SMALL, '-f', 'mpegts'),
  );
  let bursts = 0;
  const serve = (response: ServerResponse) => {
    const size = Math.ceil((bytes.length * BURST_MS) / (VIDEO_S * 1000));
    let sent = 0;
    const send = () => {
      response.write(bytes.subarray(sent, sent + size));
      sent += size;
      bursts += 1;
    };
    send();
    const timer = setInterval(send, BURST_MS);
    response.once('close', () => clearInterval(timer));
  };
  const server = createServer((_request, response) => serve(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`,
    bursts: () => bursts,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function submit(url: string): Promise<string> {
  const source = { kind: 'stream', url, pinned_address: '127.0.0.1' };
  const job = { job_id: randomUUID(), scene_code: 'person_vehicle', lower_bound: 0.3, source };
  await until(async () => (await inference.submit(job)).status === 201);
  return job.job_id;
}

test('a camera that sends in bursts is not reported below its frame rate, and leaves the slots of others', async () => {
  const [source, steady] = await Promise.all([burstSource(), serveVideo(street)]);
  try {
    const jobs = [await submit(steady.url), await submit(source.url)];
    await until(async () => (await metrics.sumOf('vision.jobs.live', { rate: 'full' })) === jobs.length);
    // Many more skipped frames than are needed to evaluate the rate of a stream.
    await until(async () => ((await metrics.sumOf('vision.frames.dropped', { reason: 'fresher' })) ?? 0) > 15);
    const burst = source.bursts();
    await until(() => source.bursts() > burst + 2);
    expect(await metrics.sumOf('vision.jobs.live', { rate: 'behind' })).toBe(0);
    expect(await metrics.sumOf('vision.jobs.live', { rate: 'full' })).toBe(jobs.length);
    expect(await metrics.sumOf('vision.jobs.live_places')).toBeGreaterThan(jobs.length);
    expect(await world.db('jobs').whereIn('job_id', jobs).whereNotNull('behind_since')).toEqual([]);
    for (const job of jobs) await inference.stop(job);
    await Promise.all(jobs.map((job) => inference.ended(job)));
  } finally {
    source.close();
    steady.close();
  }
});
