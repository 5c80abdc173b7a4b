import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { SourceChangedData } from '@vision/contracts/job-events';
import { topics } from '@vision/contracts/topics';
import { until } from '@vision/shared/testing/until';
import { jobWorld } from './support/job-service.ts';
import type { JobService, JobWorld } from './support/job-service.ts';

const street = new URL('../../../examples/street.mp4', import.meta.url).pathname;
let world: JobWorld;
let inference: JobService;
let camera: Awaited<ReturnType<typeof startCamera>>;
let reports: Awaited<ReturnType<typeof readReports>>;

beforeAll(async () => {
  world = await jobWorld();
  [camera, reports] = await Promise.all([startCamera(), readReports(world)]);
  inference = await world.start({ SOURCE_BACKOFF_MIN_MS: '50', SOURCE_BACKOFF_MAX_MS: '100', FILE_LOOK_MS: '60000' });
});
afterAll(async () => {
  await inference.close();
  camera.close();
  await reports.close();
  await world.close();
});

/** A camera over HTTP that streams from ffmpeg and fails on command. */
async function startCamera() {
  const children = new Set<ChildProcess>();
  let [codec, slowAfterS, isCut] = ['libx264', 100_000, false];
  const server = createServer((_req, res) => {
    if (isCut) return void res.destroy();
    const picture = `testsrc2=s=320x240:r=10,select='lt(t,${slowAfterS})+not(mod(n,10))'`;
    const output = ['-fps_mode', 'vfr', '-c:v', codec, '-g', '1'];
    const args = [
      '-v',
      'error',
      '-re',
      '-f',
      'lavfi',
      '-i',
      picture,
      ...output,
      ...(codec === 'libx264' ? ['-tune', 'zerolatency'] : []),
    ];
    const child = spawn('ffmpeg', [...args, '-f', 'mpegts', 'pipe:1'], { stdio: ['ignore', 'pipe', 'ignore'] });
    children.add(child);
    child.once('close', () => children.delete(child));
    res.once('close', () => child.kill('SIGKILL'));
    res.writeHead(200, { 'content-type': 'video/mp2t' });
    child.stdout.pipe(res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const signalAll = (signal: NodeJS.Signals) => children.forEach((child) => child.kill(signal));
  const reconnect = () => {
    signalAll('SIGKILL');
    return Date.now();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/live.ts`,
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    cut: () => {
      isCut = true;
      reconnect();
    },
    repair: () => void (isCut = false),
    /** Sends another codec over the next connection, or one frame a second after `slowAfterS`. */
    send: (next: { codec?: string; slowAfterS?: number }) => {
      [codec, slowAfterS] = [next.codec ?? codec, next.slowAfterS ?? slowAfterS];
      return reconnect();
    },
    close: () => {
      signalAll('SIGKILL');
      server.close();
      server.closeAllConnections();
    },
  };
}

async function readReports({ kafka }: JobWorld) {
  const received: SourceChangedData[] = [];
  const consumer = kafka.client.kafka.consumer({ groupId: randomUUID(), maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topics: [kafka.client.nameOf(topics.jobs)], fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) => {
      received.push(JSON.parse(message.value?.toString() ?? '') as SourceChangedData);
    },
  });
  return {
    of: (jobId: string) => received.filter(({ job_id: id }) => id === jobId),
    close: () => consumer.disconnect(),
  };
}

const jobFor = (source: unknown) => ({ job_id: randomUUID(), scene_code: 'person_vehicle', lower_bound: 0.3, source });

const isOfLate = ({ at_ms: atMs }: SourceChangedData, timeMs: number) => timeMs <= atMs && timeMs > atMs - 5_000;
/** The camera sends ten frames a second, of which five are taken; when it is slow, one. */
const isFullRate = (timeMs: number, before = -Infinity) => timeMs - before < 600;

test('a camera that freezes, is cut, slows down and changes its codec is reported rightly within five seconds', async () => {
  const job = jobFor({ kind: 'stream', url: camera.url, pinned_address: '127.0.0.1' });
  await inference.submit(job);
  const jobId = job.job_id;
  let seen = 0;
  const reported = async (is: (report: SourceChangedData) => boolean) => {
    const found = await until(() => reports.of(jobId).find((report) => report.n > seen && is(report)));
    seen = found.n;
    return found;
  };
  const frames = () => world.messages(jobId).filter(({ type }) => type === 'vision.frame.v1');
  const frameTimes = () => frames().map(({ data }) => data.frame_time_ms);
  /** A report within five seconds after the last frame before it. */
  const reportedInTime = async (is: (report: SourceChangedData) => boolean) => {
    const found = await reported(is);
    await until(() => frameTimes().some((timeMs) => isOfLate(found, timeMs)));
    return found;
  };
  const isStreaming = ({ state }: SourceChangedData) => state === 'streaming';

  const first = await reported(({ state, codec }) => state === 'streaming' && codec !== undefined);
  expect(first).toMatchObject({ codec: 'h264', image: { width: 320, height: 240 }, sample_fps: 5, reconnects: 0 });
  camera.freeze();
  await reportedInTime(({ state }) => state === 'stalled');
  camera.thaw();
  await reported(isStreaming);
  camera.cut();
  const cut = await reportedInTime(({ state }) => state === 'reconnecting');
  expect(cut.reason).toMatch(/^(stream_ended|connection_failed)$/);
  camera.repair();
  await reported(isStreaming);
  // Its full rate is measured first, also on a machine that takes seconds to begin.
  camera.send({ slowAfterS: 25 });
  await reported(({ state, measured_fps: fps = 0 }) => state === 'streaming' && fps >= 3);
  const slowed = await reported(({ measured_fps: fps = 5 }) => fps < 3);
  expect(slowed.state).toBe('streaming');
  await until(() =>
    frameTimes().some((timeMs, at) => isFullRate(timeMs, frameTimes()[at - 1]) && isOfLate(slowed, timeMs)),
  );
  const changedAtMs = camera.send({ slowAfterS: 100_000, codec: 'mpeg2video' });
  const changed = await reported(({ codec }) => codec === 'mpeg2video');
  const firstTimeMs = await until(() => frameTimes().find((timeMs) => timeMs > changedAtMs + 1_000));
  expect(changed.at_ms - firstTimeMs).toBeLessThan(5_000);
  expect(changed.reconnects).toBeGreaterThanOrEqual(3);
  await inference.stop(jobId);
  await inference.ended(jobId);
  expect(JSON.stringify(reports.of(jobId))).not.toMatch(/127\.0\.0\.1|live\.ts|http/);
});

test('an uploaded video is reported with its duration', async () => {
  const job = jobFor(await world.upload(street));
  await inference.submit(job);
  const report = await until(() => reports.of(job.job_id).at(0));
  expect(report).toMatchObject({ state: 'processing', codec: 'h264' });
  expect(report.duration_ms).toBeGreaterThan(5_000);
  await inference.ended(job.job_id);
});
