import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { probabilityOf, toScore } from '@vision/contracts/calibration';
import type { Curve } from '@vision/contracts/calibration';
import { until } from '@vision/shared/testing/until';
import { claimJobs } from '../src/db/claim-jobs.ts';
import { reportWorker } from '../src/db/workers.ts';
import { createHold } from '../src/jobs/hold.ts';
import { workOnJob } from '../src/jobs/work-on-job.ts';
import type { Deps } from '../src/use-cases/deps.ts';
import { submitJob } from '../src/use-cases/submit-job.ts';
import { jobWorld } from './support/job-service.ts';
import type { JobWorld } from './support/job-service.ts';
import { videoDirectory } from './support/videos.ts';

const street = new URL('../../../examples/street.mp4', import.meta.url).pathname;
const shipped = new URL('../../../config/scenes.json', import.meta.url).pathname;
const curve: Curve = [
  [0, 0],
  [0.35, 0.1],
  [0.6, 0.8],
  [1, 1],
];

let world: JobWorld;
let videos: Awaited<ReturnType<typeof videoDirectory>>;
let raw: { deps: Deps; close: () => Promise<void> };
let calibrated: typeof raw;
let renewed: typeof raw;
let clip: Awaited<ReturnType<JobWorld['upload']>>;

beforeAll(async () => {
  [world, videos] = await Promise.all([jobWorld(), videoDirectory()]);
  raw = await world.jobDeps({ SCENES_FILE: await registryWith(undefined) });
  calibrated = await world.jobDeps({
    SCENES_FILE: await registryWith({ version: '7', floor: 0.35, labels: { '*': { curve, measured: 'made up' } } }),
  });
  renewed = await world.jobDeps({
    SCENES_FILE: await registryWith(
      { version: '1', floor: 0.35, labels: { '*': { curve, measured: 'made up' } } },
      'next',
    ),
  });
  clip = await world.upload(await videos.make('clip.mp4', '-i', street, '-t', '0.5', '-c', 'copy'));
});
afterAll(async () => {
  await raw.close();
  await calibrated.close();
  await renewed.close();
  await world.close();
  await videos.remove();
});

/** The registry that ships, with another calibration of the model, which may be a newer one. */
async function registryWith(calibration: unknown, version?: string): Promise<string> {
  const registry = JSON.parse(await readFile(shipped, 'utf8')) as {
    detectors: Record<string, object>;
    scenes: { lower_bound: number; default_min_score: number }[];
  };
  registry.detectors['nanodet-416'] = {
    ...registry.detectors['nanodet-416'],
    calibration,
    ...(version && { version }),
  };
  for (const scene of registry.scenes) [scene.lower_bound, scene.default_min_score] = [0.5, 0.8];
  const path = join(videos.directory, `${randomUUID()}.json`);
  await writeFile(path, JSON.stringify(registry));
  return path;
}

async function submit({ deps }: typeof raw, lowerBound: number): Promise<string> {
  await reportWorker(deps.db, { id: randomUUID(), capacity: 10, livePlaces: 10, seenMs: 20_000, leaseMs: 15_000 });
  const jobId = randomUUID();
  const input = { job_id: jobId, scene_code: 'person_vehicle', lower_bound: lowerBound, source: clip };
  expect(await submitJob(deps, input)).toMatchObject({ kind: 'created' });
  return jobId;
}

/** Works on the job to its end; the scores of all its frames, best first. */
async function scoresOf({ deps }: typeof raw, jobId: string): Promise<number[]> {
  const claimed = await claimJobs(deps.db, { which: 'waiting', leaseMs: 60_000, limit: 100 });
  const job = claimed.find((candidate) => candidate.jobId === jobId);
  if (!job) throw new Error('the job was not claimed');
  await workOnJob(deps, job, createHold({ untilMs: Infinity, onExpired: () => undefined }));
  const messages = await until(() => {
    const seen = world.messages(jobId);
    return seen.some(({ type }) => type === 'vision.job.ended.v1') ? seen : undefined;
  });
  const objects = messages.filter(({ type }) => type === 'vision.frame.v1').flatMap(({ data }) => data.objects);
  return objects.map(({ score }) => score).toSorted((a, b) => b - a);
}

test('a job keeps the calibration it was submitted with, with any registry of its worker', async () => {
  const plain = await scoresOf(raw, await submit(raw, 0.35));
  expect(plain.length).toBeGreaterThan(5);
  const published = plain.map((score) => toScore(probabilityOf(curve, score)));
  expect(await scoresOf(raw, await submit(calibrated, 0.1))).toEqual(published);
  expect(await scoresOf(calibrated, await submit(calibrated, 0.1))).toEqual(published);
  expect(await scoresOf(calibrated, await submit(raw, 0.35))).toEqual(plain);
});

test('a job that was stored before there were calibrations keeps the scores of the model', async () => {
  const plain = await scoresOf(raw, await submit(raw, 0.35));
  const jobId = await submit(calibrated, 0.35);
  await world.db('jobs').where({ job_id: jobId }).update({ calibration: null });
  expect(await scoresOf(calibrated, jobId)).toEqual(plain);
});

test('under another model a job gets the calibration of that model', async () => {
  const plain = await scoresOf(raw, await submit(raw, 0.35));
  const published = plain.map((score) => toScore(probabilityOf(curve, score)));
  expect(await scoresOf(renewed, await submit(raw, 0.1))).toEqual(published);
  const ofEarlierRelease = await submit(calibrated, 0.1);
  await world.db('jobs').where({ job_id: ofEarlierRelease }).update({ model: null });
  expect(await scoresOf(renewed, ofEarlierRelease)).toEqual(published);
  expect(world.log.map((line) => JSON.parse(line) as unknown)).toContainEqual(
    expect.objectContaining({
      msg: 'job runs with another model, and with its calibration',
      task_id: ofEarlierRelease,
      model: 'nanodet-416:next',
    }),
  );
});

test('the row of a job has the curves of its scene alone', async () => {
  const jobId = await submit(calibrated, 0.1);
  const row = await world
    .db<{ job_id: string; calibration: unknown }>('jobs')
    .where({ job_id: jobId })
    .first('calibration');
  expect(row?.calibration).toEqual({ version: '7', floor: 0.35, labels: { '*': { curve, measured: 'made up' } } });
});
