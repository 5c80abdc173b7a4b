import { spawn, execFile } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { JobSnapshot } from '@vision/contracts/inference';
import { until } from '@vision/shared/testing/until';
import { findSnapshot } from '../src/db/live-snapshots.ts';
import { encodeJpeg } from '../src/detectors/encode-jpeg.ts';
import { createLiveSnapshots } from '../src/use-cases/live-snapshots.ts';
import { jobWorld } from './support/job-service.ts';
import type { JobService, JobWorld } from './support/job-service.ts';

const run = promisify(execFile);
let world: JobWorld;
let inference: JobService;
let camera: Awaited<ReturnType<typeof redCamera>>;

beforeAll(async () => {
  [world, camera] = await Promise.all([jobWorld(), redCamera()]);
  inference = await world.start();
});
afterAll(async () => {
  await inference.close();
  camera.close();
  await world.close();
});

/** A camera that shows red; at /silent it sends nothing. */
async function redCamera() {
  const children = new Set<ChildProcess>();
  const server = createServer((req, res) => {
    res.writeHead(200, { 'content-type': 'video/mp2t' });
    if (req.url === '/silent') {
      res.flushHeaders();
      return;
    }
    const output = ['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-g', '2', '-f', 'mpegts'];
    const input = ['-v', 'error', '-re', '-f', 'lavfi', '-i', 'color=red:s=1440x810:r=2'];
    const child = spawn('ffmpeg', [...input, ...output, 'pipe:1'], { stdio: ['ignore', 'pipe', 'ignore'] });
    children.add(child);
    res.once('close', () => child.kill('SIGKILL'));
    child.stdout.pipe(res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      children.forEach((child) => child.kill('SIGKILL'));
      server.close();
      server.closeAllConnections();
    },
  };
}

const streamJob = (more: Record<string, unknown> = {}, path = '/live.ts') => ({
  job_id: randomUUID(),
  scene_code: 'person_vehicle',
  lower_bound: 0.3,
  source: { kind: 'stream', url: camera.url + path, pinned_address: '127.0.0.1' },
  ...more,
});

async function snapshotOf(jobId: string) {
  const { status, body } = await inference.ask('POST', `/v1/jobs/${jobId}/snapshot`);
  return { status, body: body as unknown as JobSnapshot & { reason: string } };
}

/** Size and mean colour of an image, as another program decodes it. */
async function shownBy(base64: string) {
  const path = join(world.workDir, `${randomUUID()}.jpg`);
  await writeFile(path, Buffer.from(base64, 'base64'));
  const asked = ['-v', 'error', '-show_entries', 'stream=width,height,codec_name', '-of', 'csv=p=0', path];
  const { stdout } = await run('ffprobe', asked);
  const mean = ['-vf', 'scale=1:1', '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-'];
  const pixel = await run('ffmpeg', ['-v', 'error', '-i', path, ...mean], { encoding: 'buffer' });
  return { is: stdout.trim(), colour: [...pixel.stdout] };
}

/** What the decoders were started with that are children of this process. */
async function ownDecoders(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = (pid: string, file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  const own = pids.map(async (pid) => {
    const parent = Number(/\) \S (\d+) /.exec(await read(pid, 'stat'))?.[1]);
    return parent === process.pid ? read(pid, 'cmdline') : '';
  });
  return (await Promise.all(own)).filter((line) => line.includes('rawvideo'));
}

const frameTimes = (jobId: string) => world.messages(jobId).map(({ data }) => data.frame_time_ms);
const storedJobs = async () => (await world.db('live_snapshots').select<{ job_id: string }[]>('job_id')).length;

test('the newest frame of a stream is returned while it is asked for, and removed with the job', async () => {
  const job = streamJob({ snapshots: 'tracks' });
  expect((await inference.submit(job)).status).toBe(201);
  const first = await until(async () => {
    const { status, body } = await snapshotOf(job.job_id);
    if (status === 404) expect(body.reason).toBe('snapshot_not_yet');
    return status === 200 ? body : undefined;
  });
  expect(first).toMatchObject({ width: 1280, height: 720, media_type: 'image/jpeg' });
  const { is, colour } = await shownBy(first.data);
  expect(is).toBe('mjpeg,1280,720');
  const [red = 0, green = 255, blue = 255] = colour;
  expect([red > 200, green < 60, blue < 60]).toEqual([true, true, true]);
  // Newer ones follow, and they are frames that were detected, by the same clock.
  const seen = new Set<number>();
  await until(async () => {
    const { body } = await snapshotOf(job.job_id);
    if (body.frame_time_ms > first.frame_time_ms) seen.add(body.frame_time_ms);
    return frameTimes(job.job_id).some((timeMs) => seen.has(timeMs));
  });
  await inference.stop(job.job_id);
  await inference.ended(job.job_id);
  await until(async () => (await storedJobs()) === 0);
  expect(await snapshotOf(job.job_id)).toEqual({ status: 404, body: { reason: 'job_not_running' } });
});

test('of a job without snapshots nothing is decoded, stored or asked for', async () => {
  const job = streamJob();
  await inference.submit(job);
  await until(() => frameTimes(job.job_id).length > 3);
  expect(await snapshotOf(job.job_id)).toEqual({ status: 404, body: { reason: 'snapshots_off' } });
  // The other tests of this file have ended their jobs.
  const decoders = await until(async () => {
    const found = await ownDecoders();
    return found.length > 0 ? found : undefined;
  });
  expect(decoders.filter((line) => line.includes('pipe:4')).length).toBe(0);
  const row = (await world.db('jobs').where({ job_id: job.job_id }).first()) as Record<string, unknown>;
  expect([row['snapshots'], row['snapshot_wanted_until']]).toEqual([false, null]);
  await inference.stop(job.job_id);
  await inference.ended(job.job_id);
  expect(await storedJobs()).toBe(0);
});

test('with snapshots nothing is stored without a request', async () => {
  const job = streamJob({ snapshots: 'tracks' });
  await inference.submit(job);
  await until(() => frameTimes(job.job_id).length > 5);
  expect(await storedJobs()).toBe(0);
  await inference.stop(job.job_id);
  await inference.ended(job.job_id);
});

test('a stream without a frame is answered after some seconds, however many ask', async () => {
  const job = streamJob({ snapshots: 'tracks' }, '/silent');
  await inference.submit(job);
  const answers = await Promise.all(Array.from({ length: 40 }, () => snapshotOf(job.job_id)));
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.reason}`))).toEqual(
    new Set(['404 snapshot_not_yet']),
  );
  await inference.stop(job.job_id);
  await inference.ended(job.job_id);
});

test('a file, an unknown job and an id that is none have no newest frame', async () => {
  const source = { kind: 'object', bucket: world.bucket, key: 'videos/none' };
  await world.db('jobs').insert({ job_id: randomUUID(), status: 'stopped' });
  const file = randomUUID();
  await world.db('jobs').insert({ job_id: file, status: 'queued', source_kind: source.kind, lease_until: 'infinity' });
  const reasons = await Promise.all([file, randomUUID(), '%00', 'x'.repeat(500)].map(snapshotOf));
  expect(reasons.map(({ body }) => body.reason)).toEqual([
    'not_a_stream',
    'job_not_running',
    'job_not_running',
    'job_not_running',
  ]);
  await world.db('jobs').where({ job_id: file }).delete();
});

test('the same job with and without snapshots are two', async () => {
  const job = streamJob({ snapshots: 'tracks' }, '/silent');
  await inference.submit(job);
  expect((await inference.submit(job)).status).toBe(200);
  expect((await inference.submit({ ...job, snapshots: undefined })).status).toBe(409);
  expect((await inference.submit({ ...job, snapshots: 'all' })).status).toBe(422);
  await inference.stop(job.job_id);
  await inference.ended(job.job_id);
});

test('a stored frame goes when its time is over, and a holder whose claim is gone stores none', async () => {
  const counted: string[] = [];
  const signals = { snapshots: (outcome: string) => void counted.push(outcome) };
  const held = createLiveSnapshots({ db: world.db, signals, encode: encodeJpeg, removedAfterMs: 4_000 });
  const fence = { jobId: randomUUID(), attempt: 1, claim: randomUUID() };
  const row = { job_id: fence.jobId, attempt: 1, claim: fence.claim, status: 'running', lease_until: 'infinity' };
  await world.db('jobs').insert(row);
  const pixels = { width: 32, height: 16, data: Buffer.alloc(32 * 16 * 3, 90) };
  const frame = () => ({ timeMs: 1000, arrivedAtMs: Date.now(), pixels });
  const stale = held.open({ ...fence, claim: randomUUID() });
  held.want({ ...fence, claim: randomUUID() }, 60_000);
  stale.put(frame());
  const holder = held.open(fence);
  holder.put(frame());
  expect(counted).toEqual([]);
  held.want(fence, 60_000);
  const found = await until(() => findSnapshot(world.db, fence.jobId, 60_000));
  expect(found).toMatchObject({ width: 32, height: 16, frameTimeMs: 1000 });
  await until(async () => (await findSnapshot(world.db, fence.jobId, 60_000)) === undefined);
  holder.put({ ...frame(), arrivedAtMs: Date.now() - 5_000 });
  await world.db('jobs').where({ job_id: fence.jobId }).update({ claim: randomUUID() });
  await until(() => {
    // One that comes less than a second after the one before is left out.
    holder.put(frame());
    return counted.length === 2;
  });
  expect(counted).toEqual(['stored', 'not_stored']);
  expect(await findSnapshot(world.db, fence.jobId, 60_000)).toBeUndefined();
  stale.close();
  holder.close();
  await held.stop();
  await world.db('jobs').where({ job_id: fence.jobId }).delete();
});
