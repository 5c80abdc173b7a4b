import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { threadsOf } from '../src/sandbox/processor-time.ts';
import { jobWorld, serveVideo } from './support/job-service.ts';
import type { JobService, JobWorld } from './support/job-service.ts';
import { street } from './support/live-watch.ts';

let world: JobWorld;
let inference: JobService;

beforeAll(async () => {
  world = await jobWorld();
  inference = await world.start({ HEAVY_DECODER_CORES: '0.001' });
});
afterAll(async () => {
  await inference.close();
  await world.close();
});

/** Empty for a process or thread that has ended meanwhile. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}

/** The threads of the decoders that this process has started. */
function decoderThreads() {
  const children = readdirSync(`/proc/${process.pid}/task`).flatMap((thread) =>
    textOf(`/proc/${process.pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
  return [...threadsOf(children)].filter(({ pid }) => textOf(`/proc/${pid}/comm`) === 'ffmpeg');
}

/** A job whose stream has frames. */
async function runningJob() {
  const camera = await serveVideo(street);
  const source = { kind: 'stream', url: camera.url, pinned_address: '127.0.0.1' };
  const job = { job_id: randomUUID(), scene_code: 'person_vehicle', lower_bound: 0.3, source };
  await until(async () => (await inference.submit(job)).status === 201);
  const frames = () => world.messages(job.job_id).length;
  await until(() => frames() > 0 && decoderThreads().length > 0);
  return {
    hasMoreFrames: async () => {
      const before = frames();
      await until(() => frames() > before);
    },
    end: async () => {
      await inference.stop(job.job_id);
      const ended = await inference.ended(job.job_id);
      camera.close();
      return ended;
    },
  };
}

test('the decoder of a live stream that takes too much of a core goes on with a lower priority', async () => {
  const job = await runningJob();
  await until(() => {
    const threads = decoderThreads();
    return threads.length > 0 && threads.every(({ thread }) => getPriority(thread) === 10);
  });
  await job.hasMoreFrames();
  expect(await job.end()).toMatchObject({ status: 'stopped', attempt: 1 });
});

test('the decoder of a live stream has a limit of processor time, and another one goes on at the limit', async () => {
  const job = await runningJob();
  const [{ pid } = { pid: 0 }] = decoderThreads();
  expect(textOf(`/proc/${pid}/limits`)).toMatch(/^Max cpu time +86400 +86401 /m);
  process.kill(pid, 'SIGXCPU');
  await until(() => decoderThreads().some((thread) => thread.pid !== pid));
  await job.hasMoreFrames();
  expect(await job.end()).toMatchObject({ status: 'stopped', attempt: 1 });
});
