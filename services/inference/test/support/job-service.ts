import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { createGate } from '@vision/shared/async/gate';
import type { Job, StreamProbeReply } from '@vision/contracts/inference';
import { frameProduced, segmentProduced } from '@vision/contracts/frame-events';
import { decodeFrameSegment } from '@vision/contracts/segments/frame-segment';
import { topics } from '@vision/contracts/topics';
import { loadScenes } from '@vision/shared/scenes';
import { testKafka } from '@vision/kafka/testing/kafka';
import { hasten } from '@vision/shared/testing/hasten';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import { freePort } from '@vision/shared/testing/ports';
import { inheritedEnvironment, testEntry } from '@vision/shared/testing/service-process';
import { testS3 } from '@vision/objects/testing/s3';
import { until } from '@vision/shared/testing/until';
import { startLiveSource } from '../../../../examples/live-source.ts';
import { completeVideoConfig, constants, internals, readConfig } from '../../src/config.ts';
import { migrations } from '../../src/db/migrations/list.ts';
import { createDetectors } from '../../src/detectors/detectors.ts';
import { createService } from '../../src/service.ts';
import { createImageDecoder } from '../../src/images/create-image-decoder.ts';
import { createSignals } from '../../src/signals.ts';
import { createVideoJobs } from '../../src/video-jobs.ts';
import { sandbox } from './sandbox.ts';

/** A received message of vision.frames.v1. */
export interface Received {
  type: string;
  key: string;
  partition: number;
  /** Number of frames of the segment that contained it. */
  ofSegment?: number;
  data: {
    job_id: string;
    attempt: number;
    seq: number;
    frame_time_ms: number;
    image: { width: number; height: number };
    objects: { label: string; score: number; track_id: string }[];
    status?: string;
    error?: string;
    frames_published?: number;
  };
}

/**
 * On a busy machine no lease expires and no connection times out by itself: another attempt would change the counts. A
 * test of such a limit sets its own.
 */
const PATIENT = { JOB_LEASE_MS: '600000', SOURCE_OPEN_MS: '3600000', SOURCE_NO_FRAME_MS: '3600000' };

/** Database, bucket, topic and address book of the tests of one file; services are started on it. */
export async function jobWorld() {
  const [database, s3, kafka] = await Promise.all([
    createTestDatabase(migrations),
    testS3(),
    testKafka({ topics: Object.values(topics) }),
  ]);
  const workDir = await mkdtemp(join(tmpdir(), 'vision-jobs-'));
  const scenesFile = join(workDir, 'scenes.json');
  await writeFile(scenesFile, JSON.stringify(await cheapScene()));
  const received: Received[] = [];
  const consumer = kafka.client.kafka.consumer({ groupId: randomUUID(), maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topics: [kafka.client.nameOf(topics.frames)], fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message, partition }) => {
      const type = message.headers?.['ce_type']?.toString() ?? '';
      const known = { key: message.key?.toString() ?? '', partition };
      const value = message.value ?? Buffer.alloc(0);
      // A receiver reads each frame of a segment as a message.
      if (type === segmentProduced.type) {
        const { frames } = decodeFrameSegment(value);
        received.push(
          ...frames.map((data) => ({ ...known, type: frameProduced.type, data, ofSegment: frames.length })),
        );
      } else received.push({ ...known, type, data: JSON.parse(value.toString()) as Received['data'] });
    },
  });
  const key = randomBytes(32).toString('base64');
  const log: string[] = [];
  const settings = (env: Record<string, string>) => ({
    DATABASE_URL: database.url,
    KAFKA_BROKERS: kafka.brokers.join(','),
    TOPIC_PREFIX: kafka.topicPrefix,
    S3_ENDPOINT: s3.endpoint,
    S3_REGION: s3.region,
    S3_BUCKET: s3.bucket,
    S3_ACCESS_KEY: s3.accessKey,
    S3_SECRET_KEY: s3.secretKey,
    STREAM_URL_KEY: key,
    DEVELOPMENT_WITHOUT_TOKEN: 'true',
    STREAM_ALLOWED_CIDRS: '127.0.0.0/8',
    JOB_POLL_MS: '100',
    ...PATIENT,
    LIVE_JOBS_PER_WORKER: '16',
    WORK_DIR: join(workDir, randomUUID()),
    SCENES_FILE: scenesFile,
    ...env,
  });
  return {
    db: database.db,
    databaseUrl: database.url,
    kafka,
    bucket: s3.bucket,
    topicPrefix: kafka.topicPrefix,
    workDir,
    log,
    start: (env: Record<string, string> = {}) => startService(settings(env), log),
    /** The dependencies of jobs without a worker. */
    jobDeps: (env: Record<string, string> = {}) => startJobDeps(settings(env), log),
    /** The service as a separate process, which can be killed. */
    spawn: (env: Record<string, string> = {}, folder?: string) => spawnService(settings(env), folder),
    /** Messages of one job, in the order of arrival. */
    messages: (jobId: string) => received.filter((message) => message.key === jobId),
    s3,
    upload: async (path: string) => {
      const name = `videos/${randomUUID()}`;
      await s3.client.putObject(s3.bucket, name, await readFile(path));
      return { kind: 'object', bucket: s3.bucket, key: name } as const;
    },
    /** Files that jobs left in their directory. */
    leftovers: async () => (await readdir(workDir, { recursive: true })).filter((name) => name.endsWith('.video')),
    close: async () => {
      await consumer.disconnect();
      await Promise.all([database.drop(), s3.close(), kafka.close(), rm(workDir, { recursive: true, force: true })]);
    },
  };
}

/**
 * One scene with the smallest shape of its model. What is detected is another suite's; with all models and shapes these
 * tests take a fifth more processor time.
 */
async function cheapScene(): Promise<object> {
  const registry = JSON.parse(await readFile(registryFile, 'utf8')) as { scenes: { scene_code: string }[] };
  const [scene] = registry.scenes.filter(({ scene_code: code }) => code === 'person_vehicle');
  return { ...registry, scenes: [{ ...scene, input_shapes: [[416, 416]] }] };
}

const registryFile = new URL('../../../../config/scenes.json', import.meta.url);

export type JobWorld = Awaited<ReturnType<typeof jobWorld>>;

const parseConfig = (env: Record<string, string>) =>
  hasten(
    readConfig({ HOST: '127.0.0.1', PORT: '0', HEALTH_PORT: '0', DETECT_THREADS: '1', ...env }),
    { ...constants, ...internals },
    env,
  );
const loggerTo = (log: string[]) => pino({ level: 'debug' }, { write: (line: string) => void log.push(line) });

async function startJobDeps(env: Record<string, string>, log: string[]) {
  const config = completeVideoConfig(parseConfig(env));
  if (!config) throw new Error('there is no database');
  const logger = loggerTo(log);
  const detectors = createDetectors({
    scenes: loadScenes(parseConfig(env).SCENES_FILE),
    modelsDir: parseConfig(env).MODELS_DIR,
    threads: 1,
    logger,
  });
  const limits = { cpuMs: 5_000, waitMs: 30_000 };
  const shared = {
    logger,
    signals: createSignals(logger),
    detectors,
    // Jobs decode no images; its processes are started with the first image.
    imageDecoder: createImageDecoder({ sandbox, atOnce: 1, limits, onLost: () => undefined }),
    sandbox,
    requestGate: createGate({ concurrency: 1 }),
    detectionGate: createGate({ concurrency: 1 }),
    imageAnswerMs: 15_000,
  };
  const { deps, stopClients } = createVideoJobs(config, shared, 1);
  await Promise.all([detectors.start(), deps.files.start()]);
  return {
    deps,
    close: async () => {
      await detectors.stop();
      await stopClients();
    },
  };
}

async function startService(env: Record<string, string>, log: string[]) {
  const config = parseConfig(env);
  const logger = loggerTo(log);
  const onFatal = (error: unknown) => {
    throw error;
  };
  const service = await createService(config, { logger, onFatal });
  await service.start();
  const readiness = `http://127.0.0.1:${service.healthPort}/health/ready`;
  await until(async () => (await fetch(readiness)).ok);
  return {
    ...clientFor(service.port),
    close: async () => {
      for (const phase of service.stopPhases) await phase.stop();
    },
  };
}

/** @param folder of the service, for another build than this one */
async function spawnService(env: Record<string, string>, folder?: string) {
  const port = await freePort();
  const entry = folder === undefined ? [testEntry, 'inference'] : ['src/main.ts'];
  const child = spawn(process.execPath, ['--conditions=@vision/source', ...entry], {
    cwd: folder,
    env: {
      ...inheritedEnvironment,
      HOST: '127.0.0.1',
      PORT: String(port),
      HEALTH_PORT: '0',
      DETECT_THREADS: '1',
      ...env,
    },
    stdio: 'ignore',
  });
  const died = once(child, 'exit');
  const client = clientFor(port);
  await until(async () => (await client.get('/v1/jobs?ids=')).status === 200);
  return { ...client, port, pid: child.pid ?? 0, kill: () => child.kill('SIGKILL'), died };
}

function clientFor(port: number) {
  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const reply = { status: response.status, body: (await response.json()) as Job & { reason?: string; jobs?: Job[] } };
    // Not enumerable: tests compare all other properties with `toEqual`.
    return Object.defineProperty(reply, 'headers', { value: response.headers }) as typeof reply & { headers: Headers };
  };
  const read = async (jobId: string) => (await ask('GET', `/v1/jobs/${jobId}`)).body;
  return {
    ask,
    submit: (job: unknown) => ask('POST', '/v1/jobs', job),
    stop: (jobId: string) => ask('POST', `/v1/jobs/${jobId}/stop`),
    get: (path: string) => ask('GET', path),
    probe: async (probe: object, signal: AbortSignal | null = null) => {
      const headers = { 'content-type': 'application/json', 'x-picture-owner': 'somebody' };
      const url = `http://127.0.0.1:${port}/v1/stream-probes`;
      const body = JSON.stringify({ snapshot: true, within_ms: 60_000, pinned_address: '127.0.0.1', ...probe });
      const response = await fetch(url, { method: 'POST', headers, body, signal });
      const reply = (await response.json()) as Partial<StreamProbeReply> & { reason?: string };
      return { status: response.status, body: reply, processorMs: Number(response.headers.get('x-processor-time-ms')) };
    },
    read,
    ended: (jobId: string) =>
      until(async () => {
        const job = await read(jobId);
        return ['stopped', 'succeeded', 'failed'].includes(job.status) ? job : undefined;
      }),
  };
}

export type JobService = Awaited<ReturnType<typeof startService>>;

/** The clip as an endless stream over HTTP. */
export const serveVideo = (video: string) => startLiveSource({ video });
