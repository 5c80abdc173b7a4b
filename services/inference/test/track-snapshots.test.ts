import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { firstIdAt } from '@vision/contracts/ids';
import type { SnapshotTakenData } from '@vision/contracts/job-events';
import { topics } from '@vision/contracts/topics';
import { placeOfTrackSnapshot } from '@vision/contracts/track-snapshots';
import { testMetrics } from '@vision/shared/testing/metrics';
import { until } from '@vision/shared/testing/until';
import { jobWorld, serveVideo } from './support/job-service.ts';
import type { JobService, JobWorld } from './support/job-service.ts';

const street = new URL('../../../examples/street.mp4', import.meta.url).pathname;
const metrics = testMetrics();
let world: JobWorld;
let inference: JobService;
let events: Awaited<ReturnType<typeof readEvents>>;

beforeAll(async () => {
  world = await jobWorld();
  events = await readEvents(world);
  inference = await world.start({ FILE_LOOK_MS: '60000' });
});
afterAll(async () => {
  await inference.close();
  await events.close();
  await world.close();
});

/** Events about images of tracks, by job. */
async function readEvents({ kafka }: JobWorld) {
  const received: SnapshotTakenData[] = [];
  const consumer = kafka.client.kafka.consumer({ groupId: randomUUID(), maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topics: [kafka.client.nameOf(topics.jobs)], fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) => {
      if (message.headers?.['ce_type']?.toString() === 'vision.snapshot.taken.v1')
        received.push(JSON.parse(message.value?.toString() ?? '') as SnapshotTakenData);
    },
  });
  return {
    of: (jobId: string) => received.filter((one) => one.job_id === jobId),
    close: () => consumer.disconnect(),
  };
}

/** An id as tasks have. */
const newTaskId = () => firstIdAt(new Date()).slice(0, 19) + randomUUID().slice(19);

const jobOf = (source: object, more: object = {}) => ({
  job_id: newTaskId(),
  scene_code: 'person_vehicle',
  lower_bound: 0.3,
  source,
  ...more,
});

const images = async () => (await world.s3.objects()).filter((key) => key.startsWith('track-snapshots/'));
const imagesOf = async (jobId: string) => (await images()).filter((key) => key.includes(jobId));

async function bytesOf(key: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await world.s3.client.getObject(world.bucket, key)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const run = promisify(execFile);

/** Kind and size of an image, as another program decodes it. */
async function shownBy(jpeg: Buffer): Promise<string> {
  const path = join(world.workDir, `${randomUUID()}.jpg`);
  await writeFile(path, jpeg);
  const asked = ['-v', 'error', '-show_entries', 'stream=width,height,codec_name', '-of', 'csv=p=0', path];
  return (await run('ffprobe', asked)).stdout.trim();
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

test('an uploaded video has an image of its people, cut out of the frame that the event names', async () => {
  const job = jobOf(await world.upload(street), { snapshots: 'tracks' });
  expect((await inference.submit(job)).status).toBe(201);
  expect((await inference.ended(job.job_id)).status).toBe('succeeded');
  const frames = await until(() => {
    const messages = world.messages(job.job_id);
    return messages.some(({ data }) => data.status !== undefined) ? messages : undefined;
  });
  const taken = await until(() => {
    const of = events.of(job.job_id);
    return of.length >= 4 ? of : undefined;
  });
  for (const one of taken) {
    const frame = frames.find(({ data }) => data.seq === one.seq);
    expect(frame?.data.frame_time_ms).toBe(one.frame_time_ms);
    const seen = frame?.data.objects.find(({ track_id: id }) => id === one.track_id);
    expect(seen).toMatchObject({ score: one.score, bbox: one.bbox });
    expect(one.score).toBeGreaterThanOrEqual(0.8);
    expect(placeOfTrackSnapshot(one.object_key)).toEqual({ taskId: job.job_id, trackId: one.track_id });
    const jpeg = await bytesOf(one.object_key);
    expect(jpeg.length).toBe(one.bytes);
    expect(await shownBy(jpeg)).toBe(`mjpeg,${one.width},${one.height}`);
    expect(/Exif|ICC_PROFILE|adobe|Lavc/i.test(jpeg.toString('latin1'))).toBe(false);
    expect(Math.max(one.width, one.height)).toBeLessThanOrEqual(640);
    // The box with a tenth around it, of a video of 768×576.
    expect(Math.abs(one.width - Math.min(1, one.bbox.width * 1.2) * 768)).toBeLessThan(0.1 * 768);
  }
  // Events that were read before and objects that are stored now: the last ones come a little later.
  const told = () => events.of(job.job_id).map(({ object_key: key }) => key);
  await until(async () => isDeepStrictEqual((await imagesOf(job.job_id)).toSorted(), told().toSorted()));
});

test('without snapshots no image of a file or of a stream is stored, and each decoder has one output', async () => {
  const before = await images();
  const camera = await serveVideo(street);
  try {
    const file = jobOf(await world.upload(street));
    const live = jobOf({ kind: 'stream', url: camera.url, pinned_address: '127.0.0.1' });
    await Promise.all([inference.submit(file), inference.submit(live)]);
    const seen = new Set<string>();
    await until(async () => {
      for (const line of await ownDecoders()) seen.add(line);
      return world.messages(live.job_id).length > 20 && world.messages(file.job_id).length > 20;
    });
    await inference.stop(live.job_id);
    await Promise.all([inference.ended(live.job_id), inference.ended(file.job_id)]);
    expect(seen.size).toBeGreaterThan(1);
    expect([...seen].filter((line) => line.includes('pipe:4'))).toEqual([]);
    expect(await images()).toEqual(before);
    expect([...events.of(file.job_id), ...events.of(live.job_id)]).toEqual([]);
  } finally {
    camera.close();
  }
});

test('a live stream has images of its tracks', async () => {
  const camera = await serveVideo(street);
  try {
    const job = jobOf({ kind: 'stream', url: camera.url, pinned_address: '127.0.0.1' }, { snapshots: 'tracks' });
    await inference.submit(job);
    const [first] = await until(() => (events.of(job.job_id).length > 0 ? events.of(job.job_id) : undefined));
    const frame = await until(() => world.messages(job.job_id).find(({ data }) => data.seq === first?.seq));
    expect(frame.data.frame_time_ms).toBe(first?.frame_time_ms);
    await inference.stop(job.job_id);
    await inference.ended(job.job_id);
  } finally {
    camera.close();
  }
});

/** The object store behind a door that never answers when an image of a track is put through it. */
async function storeWithoutImages() {
  const { hostname, port } = new URL(world.s3.endpoint);
  const held: string[] = [];
  const server = createServer((req, res) => {
    const { method, url = '', headers } = req;
    if (method === 'PUT' && url.includes('track-snapshots/')) {
      held.push(url);
      return;
    }
    const forwarded = request({ host: hostname, port, method, path: url, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    forwarded.on('error', () => res.destroy());
    req.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const countOf = async (outcome: string) => (await metrics.sumOf('vision.track_snapshots', { outcome })) ?? 0;

test('while the object store takes no image, every frame of a job is published and it ends', async () => {
  const door = await storeWithoutImages();
  const worker = await world.start({ S3_ENDPOINT: door.endpoint });
  // The other worker of this file would take the job, and its store answers.
  await inference.close();
  try {
    const job = jobOf(await world.upload(street), { snapshots: 'tracks' });
    expect((await worker.submit(job)).status).toBe(201);
    expect(await worker.ended(job.job_id)).toMatchObject({ status: 'succeeded', frames_published: 60 });
    await until(() => world.messages(job.job_id).filter(({ type }) => type === 'vision.frame.v1').length === 60);
    // An image is encoded on its own way, which no frame waits for.
    await until(() => door.held.length > 0);
    expect([events.of(job.job_id), await imagesOf(job.job_id)]).toEqual([[], []]);
  } finally {
    door.close();
    await worker.close();
    inference = await world.start({ FILE_LOOK_MS: '60000' });
  }
});

test('images that wait for an object store without an answer are bounded, and those beyond are counted', async () => {
  // It takes connections and never answers.
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const S3_ENDPOINT = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const { deps, close } = await world.jobDeps({ S3_ENDPOINT });
  const before = await countOf('dropped');
  try {
    const choice = deps.trackSnapshots.open(
      { jobId: newTaskId(), attempt: 1, source: { kind: 'object', key: 'x' } },
      { threshold: 0.5, isHeld: () => true },
    );
    const pixels = { width: 64, height: 64, data: new Uint8Array(64 * 64 * 3).map((_, at) => at % 251) };
    const bbox = { format: 'cxcywh_normalized' as const, cx: 0.5, cy: 0.5, width: 0.5, height: 0.5 };
    // Each call returns at once, however many images wait for the store.
    for (let seq = 0; seq < 1_200; seq += 1) {
      choice.large({ timeMs: seq * 1000, pixels });
      const objects = [{ label: 'person', score: 0.9, bbox, track_id: `a1-${Math.floor(seq / 4)}` }];
      choice.frame({ seq, timeMs: seq * 1000, objects });
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    choice.end();
    expect(await until(async () => (await countOf('dropped')) > before)).toBe(true);
  } finally {
    silent.closeAllConnections();
    silent.close();
    await close();
  }
});

test.each(['inference.track_snapshot.stored', 'inference.track_snapshot.published'])(
  'a job whose worker dies at %s is ended by the next, and each image that was announced is there',
  async (step) => {
    await inference.close();
    // No lease ends by itself; that of the worker that dies is ended by its row.
    const lease = { JOB_LEASE_MS: '600000', JOB_LEASE_MARGIN_MS: '1000' };
    const doomed = await world.spawn({ ...lease, CRASH_AT: step });
    try {
      const job = jobOf(await world.upload(street), { snapshots: 'tracks' });
      await until(async () => (await doomed.submit(job)).status === 201);
      await doomed.died;
      expect((await imagesOf(job.job_id)).length).toBeGreaterThan(0);
      await world.db('jobs').where({ job_id: job.job_id }).update({ lease_until: world.db.fn.now() });
      if (step === 'inference.track_snapshot.published') await until(() => events.of(job.job_id).length > 0);
      else expect(events.of(job.job_id)).toEqual([]);
      const left = await imagesOf(job.job_id);
      inference = await world.start({ ...lease, FILE_LOOK_MS: '60000' });
      expect(await inference.ended(job.job_id)).toMatchObject({ status: 'succeeded' });
      await until(() => events.of(job.job_id).some(({ attempt }) => attempt === 2));
      const stored = await until(async () => {
        const [keys, told] = [await imagesOf(job.job_id), events.of(job.job_id).map(({ object_key: key }) => key)];
        // What is stored and not told is what the worker left that died, for the sweep.
        return keys.filter((key) => !left.includes(key)).every((key) => told.includes(key)) ? keys : undefined;
      });
      expect(stored).toEqual(expect.arrayContaining(events.of(job.job_id).map(({ object_key: key }) => key)));
      const numbers = new Set(
        world
          .messages(job.job_id)
          .filter(({ type }) => type === 'vision.frame.v1')
          .map(({ data }) => data.seq),
      );
      expect(numbers.size).toBeGreaterThanOrEqual(60);
    } finally {
      doomed.kill();
      await world.db('workers').delete();
      await inference.close();
      inference = await world.start({ FILE_LOOK_MS: '60000' });
    }
  },
);
