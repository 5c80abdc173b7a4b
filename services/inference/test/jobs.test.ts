import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { processorTimeHeader } from '@vision/contracts/inference';
import { until } from '@vision/shared/testing/until';
import { serveVideo, jobWorld } from './support/job-service.ts';
import type { JobService, JobWorld } from './support/job-service.ts';
import { tcpServer } from './support/live-servers.ts';
import { videoDirectory } from './support/videos.ts';

const street = new URL('../../../examples/street.mp4', import.meta.url).pathname;
let world: JobWorld;
let inference: JobService;
let videos: Awaited<ReturnType<typeof videoDirectory>>;

const HOUR_MS = '3600000';
/** With time limits that never run out, what ends in these tests was ended by what they do. */
const start = (env: Record<string, string> = {}) =>
  world.start({ SOURCE_OPEN_MS: HOUR_MS, SOURCE_NO_FRAME_MS: HOUR_MS, FILE_LOOK_MS: '60000', ...env });

beforeAll(async () => {
  [world, videos] = await Promise.all([jobWorld(), videoDirectory()]);
  inference = await start();
});
afterAll(async () => {
  await inference.close();
  await world.close();
  await videos.remove();
});

const jobFor = (source: unknown, more: object = {}) => ({
  job_id: randomUUID(),
  scene_code: 'person_vehicle',
  lower_bound: 0.3,
  source,
  ...more,
});
const stream = (url: string) => ({ kind: 'stream', url, pinned_address: '127.0.0.1' });
const framesOf = (jobId: string) => world.messages(jobId).filter(({ type }) => type === 'vision.frame.v1');
const endsOf = (jobId: string) => world.messages(jobId).filter(({ type }) => type === 'vision.job.ended.v1');
const endMark = (jobId: string) => until(() => endsOf(jobId).at(-1));

test('an uploaded video is published frame by frame, each person with a track, and ends with the mark', async () => {
  const job = jobFor(await world.upload(street));
  const created = await inference.submit(job);
  expect(created).toMatchObject({ status: 201, body: { job_id: job.job_id, frames_published: 0 } });
  expect(await inference.ended(job.job_id)).toEqual({
    job_id: job.job_id,
    status: 'succeeded',
    frames_published: 60,
    attempt: 1,
  });
  const end = await endMark(job.job_id);
  expect(end.data).toMatchObject({
    status: 'succeeded',
    attempt: 1,
    frames_published: 60,
    attempt_frames: { count: 60, first_seq: 0, last_seq: 59 },
  });
  const frames = framesOf(job.job_id).map(({ data }) => data);
  expect(frames.map((frame) => frame.seq)).toEqual(Array.from({ length: 60 }, (_, i) => i));
  expect(frames.map((frame) => frame.frame_time_ms)).toEqual(Array.from({ length: 60 }, (_, i) => i * 200));
  expect(frames.every(({ image }) => image.width === 768 && image.height === 576)).toBe(true);
  const objects = frames.flatMap((frame) => frame.objects);
  expect(objects.length).toBeGreaterThan(100);
  expect(objects.every(({ track_id: id, score }) => /^a1-\d+$/.test(id) && score >= 0.3)).toBe(true);
  expect(world.messages(job.job_id).at(-1)?.type).toBe('vision.job.ended.v1');
});

test('the same job again is the same job; another one under its id is refused', async () => {
  // Long enough to be stopped in the middle.
  const long = await videos.make('long.mp4', '-stream_loop', '19', '-i', street, '-c', 'copy');
  const job = jobFor(await world.upload(long));
  expect((await inference.submit(job)).status).toBe(201);
  expect(await inference.submit(job)).toMatchObject({ status: 200, body: { job_id: job.job_id } });
  expect(await inference.submit({ ...job, lower_bound: 0.4 })).toEqual({
    status: 409,
    body: { reason: 'job_conflict' },
  });
  await inference.stop(job.job_id);
  expect(await inference.ended(job.job_id)).toMatchObject({ status: 'stopped' });
  expect(await inference.submit(job)).toMatchObject({ status: 200, body: { status: 'stopped' } });
});

test('a stop of an unknown id sticks: a later submit starts nothing', async () => {
  const job = jobFor(await world.upload(street));
  const stopped = { job_id: job.job_id, status: 'stopped', frames_published: 0 };
  expect(await inference.stop(job.job_id)).toEqual({ status: 200, body: stopped });
  expect(await inference.submit(job)).toEqual({ status: 200, body: stopped });
  expect(await inference.stop(job.job_id)).toEqual({ status: 200, body: stopped });
  expect(await world.db('jobs').where({ job_id: job.job_id }).first('attempt')).toEqual({ attempt: 0 });
});

test('what cannot be read as video is refused and leaves nothing', async () => {
  const text = join(videos.directory, 'text.mp4');
  await writeFile(text, 'this is no video');
  const audio = await videos.make('audio.mp4', '-f', 'lavfi', '-i', 'sine=d=1', '-c:a', 'aac');
  const cases = [
    [await world.upload(text), 'unreadable'],
    [await world.upload(audio), 'no_video_track'],
    [{ kind: 'object', bucket: world.bucket, key: 'videos/none' }, 'not_found'],
    [{ kind: 'object', bucket: 'another', key: 'videos/none' }, 'bucket_unknown'],
    [stream('ftp://127.0.0.1/x'), 'address_forbidden'],
    // Parsers disagree about which part of these is the host, so no backend may take one of them.
    [stream('rtsp://a@b@127.0.0.1/x'), 'address_forbidden'],
    [stream('http://2130706433/x'), 'address_forbidden'],
    [stream('rtsp://127.0.0.1/x%0d%0aDESCRIBE'), 'address_forbidden'],
    [stream('http://10.0.0.1/x'), 'address_forbidden'],
  ] as const;
  for (const [source, reason] of cases) {
    const job = jobFor(source);
    const answer = await inference.submit(job);
    expect(answer).toMatchObject({ status: 422, body: { reason } });
    const cost = answer.headers.get(processorTimeHeader);
    // Only what ffprobe looked at has cost something.
    if (reason === 'no_video_track') expect(Number(cost)).toBeGreaterThan(0);
    if (source.kind === 'stream') expect(cost).toBe('0');
    expect((await inference.get(`/v1/jobs/${job.job_id}`)).status).toBe(404);
  }
  const unknown = jobFor(stream('http://127.0.0.1:1/x'), { scene_code: 'none' });
  expect(await inference.submit(unknown)).toMatchObject({ status: 422, body: { reason: 'scene_unknown' } });
  expect(await inference.submit({ ...unknown, extra: 1 })).toMatchObject({
    status: 422,
    body: { reason: 'request_invalid' },
  });
});

test('a file whose look takes longer than the answer may is accepted, and the job fails with the reason', async () => {
  const audio = await videos.make('late.mp4', '-f', 'lavfi', '-i', 'sine=d=1', '-c:a', 'aac');
  const job = jobFor(await world.upload(audio));
  const hasty = await start({ FILE_LOOK_MS: '1' });
  try {
    expect(await hasty.submit(job)).toMatchObject({ status: 201 });
    expect(await hasty.ended(job.job_id)).toMatchObject({ status: 'failed', error: 'no_video_track' });
  } finally {
    await hasty.close();
  }
});

test('many jobs are read at once and unknown ids are left out', async () => {
  const known = randomUUID();
  await inference.stop(known);
  const { body } = await inference.get(`/v1/jobs?ids=${known},${randomUUID()},no-uuid`);
  expect(body.jobs).toEqual([{ job_id: known, status: 'stopped', frames_published: 0 }]);
  expect((await inference.get(`/v1/jobs?ids=${Array.from({ length: 101 }, randomUUID).join(',')}`)).status).toBe(400);
});

test('a live stream runs until it is stopped, with times of the wall clock', async () => {
  const source = await serveVideo(street);
  const job = jobFor(stream(source.url));
  const before = Date.now();
  expect((await inference.submit(job)).status).toBe(201);
  await until(() => framesOf(job.job_id).length >= 10);
  expect(await inference.read(job.job_id)).toMatchObject({ status: 'running' });
  expect(await inference.stop(job.job_id)).toMatchObject({ status: 202, body: { status: 'stopping' } });
  const ended = await inference.ended(job.job_id);
  expect(ended.status).toBe('stopped');
  await endMark(job.job_id);
  const frames = framesOf(job.job_id).map(({ data }) => data);
  expect(frames).toHaveLength(ended.frames_published);
  expect(frames[0]?.frame_time_ms).toBeGreaterThanOrEqual(before);
  const times = frames.map((frame) => frame.frame_time_ms);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  await until(() => source.viewers() === 0);
  source.close();
});

test('a stop of a source that never answered waits for no time limit', async () => {
  const silent = await tcpServer(() => undefined);
  const job = jobFor(stream(`rtsp://127.0.0.1:${silent.port}/cam`));
  await inference.submit(job);
  await until(() => silent.seen.connections > 0);
  await inference.stop(job.job_id);
  expect(await inference.ended(job.job_id)).toMatchObject({ status: 'stopped', frames_published: 0 });
  expect((await endMark(job.job_id)).data).toMatchObject({ status: 'stopped', frames_published: 0 });
  silent.close();
});

test('a stream whose address is forbidden by now fails, and is not connected to any more', async () => {
  const inner = await tcpServer(() => undefined);
  const job = jobFor(stream(`http://127.0.0.1:${inner.port}/x`));
  expect(await inference.submit(job)).toMatchObject({ status: 201 });
  await until(() => inner.seen.connections === 1);
  await inference.close();
  const strict = await start({ STREAM_ALLOWED_CIDRS: '' });
  try {
    expect(await strict.ended(job.job_id)).toMatchObject({ status: 'failed', error: 'address_forbidden' });
    expect(inner.seen.connections).toBe(1);
  } finally {
    inner.close();
    inference = await start();
    await strict.close();
  }
});

test('a file job of a dead worker goes on after the last published sample', async () => {
  const job = jobFor(await world.upload(street));
  await inference.submit(job);
  await inference.ended(job.job_id);
  const dead = {
    status: 'running',
    ending: null,
    last_seq: 39,
    last_time_ms: 7800,
    frames_published: 40,
    ended_at: null,
  };
  await world
    .db('jobs')
    .where({ job_id: job.job_id })
    .update({ ...dead, lease_until: world.db.fn.now() });
  await until(() => endsOf(job.job_id).some(({ data }) => data.attempt === 2));
  const again = framesOf(job.job_id).filter(({ data }) => data.attempt === 2);
  expect(again.map(({ data }) => [data.seq, data.frame_time_ms])).toEqual(
    Array.from({ length: 20 }, (_, i) => [40 + i, 8000 + i * 200]),
  );
  expect(again.every(({ data }) => data.objects.every((object) => object.track_id.startsWith('a2-')))).toBe(true);
  expect(await inference.ended(job.job_id)).toMatchObject({ status: 'succeeded', frames_published: 60 });
});

test('a live job that a worker yields is claimed by another with higher numbers', async () => {
  const source = await serveVideo(street);
  const job = jobFor(stream(source.url));
  await inference.submit(job);
  await until(() => framesOf(job.job_id).length >= 3);
  await inference.close();
  const last = framesOf(job.job_id).at(-1)?.data.seq ?? 0;
  expect(endsOf(job.job_id)).toEqual([]);
  inference = await start();
  const next = await until(() => framesOf(job.job_id).find(({ data }) => data.attempt === 2));
  expect(next.data.seq).toBeGreaterThan(last);
  await inference.stop(job.job_id);
  expect(await inference.ended(job.job_id)).toMatchObject({ status: 'stopped' });
  source.close();
});

test('a worker that is killed leaves its live job to another, and no ffmpeg behind', async () => {
  await inference.close();
  const doomed = await world.spawn();
  const source = await serveVideo(street);
  const job = jobFor(stream(source.url));
  await until(async () => (await doomed.submit(job)).status === 201);
  await until(() => framesOf(job.job_id).length >= 3);
  inference = await start();
  doomed.kill();
  const next = await until(async () => {
    // Its lease ends: a renewal may still have been on its way.
    await world.db('jobs').where({ job_id: job.job_id, attempt: 1 }).update({ lease_until: world.db.fn.now() });
    return framesOf(job.job_id).find(({ data }) => data.attempt === 2);
  });
  const earlier = framesOf(job.job_id).filter(({ data }) => data.attempt === 1);
  expect(next.data.seq).toBeGreaterThan(Math.max(...earlier.map(({ data }) => data.seq)));
  await until(() => source.viewers() === 1);
  await inference.stop(job.job_id);
  expect(await inference.ended(job.job_id)).toMatchObject({ status: 'stopped' });
  source.close();
});

test('more jobs than places are refused and leave nothing', async () => {
  await inference.close();
  // A worker that was killed counts until its silence is noticed.
  await world.db('workers').delete();
  const small = await start({ JOBS_PER_WORKER: '1' });
  const silent = await tcpServer(() => undefined);
  const [first, second] = [1, 2].map((n) => jobFor(stream(`http://127.0.0.1:${silent.port}/${n}`)));
  try {
    await until(async () => (await small.submit(first)).status === 201);
    expect(await small.submit(second)).toEqual({ status: 503, body: { reason: 'no_capacity' } });
    expect((await small.get(`/v1/jobs/${second?.job_id}`)).status).toBe(404);
    expect(await small.submit(first)).toMatchObject({ status: 200 });
    await small.stop(first?.job_id ?? '');
    await small.ended(first?.job_id ?? '');
    expect((await small.submit(second)).status).toBe(201);
  } finally {
    await small.close();
    silent.close();
    inference = await start();
  }
});

test('a stream address is in no log line, no message and in no readable form in the database', async () => {
  const source = await serveVideo(street);
  const secret = source.url
    .replace('http://', 'http://canary-user:canary-pass@')
    .replace('live.ts', 'live.ts?key=canary');
  const job = jobFor(stream(secret));
  await inference.submit(job);
  await until(() => framesOf(job.job_id).length >= 1 || endsOf(job.job_id).length > 0);
  source.close();
  await until(() => world.log.some((line) => line.includes('live source lost')));
  await inference.stop(job.job_id);
  await inference.ended(job.job_id);
  const rows: unknown = await world.db('jobs').select('*');
  const everything = [world.log.join(''), JSON.stringify(world.messages(job.job_id)), JSON.stringify(rows)].join('');
  expect(everything.includes('canary')).toBe(false);
  expect(await world.db('jobs').where({ job_id: job.job_id }).first('stream_url')).toEqual({ stream_url: null });
});
