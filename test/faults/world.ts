import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { frameProduced, jobEnded } from '@vision/shared/contracts/frame-events';
import { createLogger } from '@vision/shared/logger';
import { createKafka } from '@vision/shared/messaging/kafka';
import { createProducer } from '@vision/shared/messaging/producer';
import { startFaultProxy } from '@vision/shared/testing/fault-proxy';
import type { FaultProxy } from '@vision/shared/testing/fault-proxy';
import { startScriptedBackend } from '@vision/shared/testing/scripted-backend';
import type { ScriptedBackend, ScriptedJob } from '@vision/shared/testing/scripted-backend';
import { runningPid, stopProgram } from '../../deploy/local/background.ts';
import { clean } from '../../deploy/local/clean.ts';
import { stopAll } from '../../deploy/local/down.ts';
import { ensureServices } from '../../deploy/local/services.ts';
import type { ServiceName } from '../../deploy/local/services.ts';
import { urlOf } from '../../deploy/local/settings.ts';
import type { Settings } from '../../deploy/local/settings.ts';
import { testSettings } from '../../deploy/local/test-copy.ts';
import { bringUpInfrastructure } from '../../deploy/local/up.ts';

export const services = ['quota', 'tasks', 'images', 'results', 'gateway'] as const satisfies ServiceName[];
export type Service = (typeof services)[number];
/** Those that hide and remove what has expired. */
const keepers = ['tasks', 'images', 'results'] as const satisfies Service[];
export const brokers = ['postgres', 'redis', 'kafka', 's3'] as const;
export type ProxyName = 'postgres' | 'redis' | 's3' | 'inference';

/**
 * The whole system with a fault proxy before every store and a scripted inference backend in the place of the models.
 */
export interface World {
  settings: Settings;
  baseUrl: string;
  adminUrl: string;
  adminToken: string;
  /** Directly to the server, for checks. */
  databaseUrl: string;
  s3: { endpoint: string; region: string; bucket: string; accessKey: string; secretKey: string };
  backend: ScriptedBackend;
  /** Frames the broker acknowledged, by job. */
  published: Map<string, number>;
  /** Jobs that the backend was made to forget. */
  forgotten: Set<string>;
  /** A live stream that every probe accepts; its credentials may be seen nowhere. */
  streamUrl: string;
  canary: string;
  redisUrl: string;
  proxies: Record<ProxyName, FaultProxy>;
  signal: (program: string, signal: NodeJS.Signals) => void;
  /** Services that say of themselves that they are not ready or not alive; silence says nothing. */
  unwell: () => Promise<string[]>;
  /** Starts whatever of the system does not run. */
  restart: () => Promise<void>;
  /** Starts the services that keep something anew, with a clock that is ahead: `91 days`. */
  shiftClock: (offset: string) => Promise<void>;
  close: () => Promise<void>;
}

/** Short times where the product's own would make a run take hours; every one is an ordinary setting. */
const hastened = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'info',
};

export async function startWorld(
  base: Settings,
  random: () => number,
  overrides: NodeJS.ProcessEnv = {},
): Promise<World> {
  const faults = { ...base, localDir: join(base.localDir, 'faults') };
  await clean(faults);
  const settings = await testSettings(faults, {});
  const infrastructure = await bringUpInfrastructure(settings, {});
  const backend = await startScriptedBackend();
  const stream = await startStream();
  const canary = `canary-${randomUUID()}`;
  const proxies = {
    postgres: await proxyTo(infrastructure.databaseUrl, random),
    redis: await proxyTo(infrastructure.redisUrl, random),
    s3: await proxyTo(infrastructure.objectStore.endpoint, random),
    inference: await proxyTo(backend.url, random),
  };
  const launch = {
    settings,
    infrastructure: {
      ...infrastructure,
      databaseUrl: through(infrastructure.databaseUrl, proxies.postgres),
      redisUrl: through(infrastructure.redisUrl, proxies.redis),
      objectStore: {
        ...infrastructure.objectStore,
        endpoint: through(infrastructure.objectStore.endpoint, proxies.s3),
      },
    },
    env: {
      ...process.env,
      ...hastened,
      ...overrides,
      INFERENCE_URL: through(backend.url, proxies.inference),
    } as NodeJS.ProcessEnv,
  };
  const player = startPlayer(backend, infrastructure.brokers.split(','));
  await ensureServices(launch, services);
  return {
    settings,
    baseUrl: urlOf(settings, 'gateway'),
    adminUrl: urlOf(settings, 'admin'),
    adminToken: infrastructure.secrets.ADMIN_TOKEN,
    databaseUrl: infrastructure.databaseUrl,
    s3: infrastructure.objectStore,
    backend,
    published: player.published,
    forgotten: new Set(),
    streamUrl: stream.url.replace('//', `//user:${canary}@`),
    canary,
    redisUrl: infrastructure.redisUrl,
    proxies,
    signal: (program, signal) => {
      const pid = runningPid(settings, program);
      if (pid !== undefined) process.kill(pid, signal);
    },
    unwell: () => askHealth(settings),
    restart: async () => {
      await bringUpInfrastructure(settings, {});
      await ensureServices(launch, services);
    },
    shiftClock: async (offset) => {
      launch.env['CLOCK_OFFSET'] = offset;
      await Promise.all(keepers.map((name) => stopProgram(settings, name, 'SIGTERM', 40_000)));
      await ensureServices(launch, services);
    },
    close: async () => {
      for (const name of services) await stopProgram(settings, name, 'SIGTERM', 10_000);
      await player.stop();
      await Promise.all([backend.close(), stream.close(), ...Object.values(proxies).map((proxy) => proxy.close())]);
      await stopAll(settings);
    },
  };
}

async function askHealth(settings: Settings): Promise<string[]> {
  const asked = services.flatMap((name) => ['ready', 'live'].map((what) => ({ name, what })));
  const answers = await Promise.all(
    asked.map(async ({ name, what }) => {
      const url = `${urlOf(settings, `${name}Health`)}/health/${what}`;
      const status = await fetch(url, { signal: AbortSignal.timeout(3_000) }).then(
        (answer) => answer.status,
        () => undefined,
      );
      return status === undefined || status === 200 ? [] : [`${name} ${what}: ${status}`];
    }),
  );
  return answers.flat();
}

/** Publishes what the scripted jobs "see": a frame every 200 ms, until the job ends or has shown twenty of a file. */
function startPlayer(backend: ScriptedBackend, addresses: string[]) {
  const kafka = createKafka({
    brokers: addresses,
    clientId: 'scripted-backend',
    logger: createLogger('backend', 'silent'),
  });
  const producer = createProducer(kafka);
  const published = new Map<string, number>();
  const ended = new Set<string>();
  const over = new AbortController();
  const step = async () => {
    const live = [...backend.jobs.values()].filter(({ job_id }) => !ended.has(job_id));
    await Promise.all(live.map((job) => play(job).catch(() => undefined)));
  };
  const play = async (job: ScriptedJob) => {
    const seq = published.get(job.job_id) ?? 0;
    const isFileEnd = job.request.source.kind === 'object' && seq >= 20;
    if (isFileEnd) backend.end(job.job_id, 'succeeded');
    const event = job.status === 'running' ? frameOf(job, seq) : endOf(job, seq);
    await producer.publish([{ ...event, id: randomUUID(), key: job.job_id, source: 'inference', time: new Date() }]);
    if (event.type === jobEnded.type) ended.add(job.job_id);
    else published.set(job.job_id, (job.frames_published = seq + 1));
  };
  const loop = (async () => {
    while (!over.signal.aborted) {
      await step();
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  })();
  return {
    published,
    stop: async () => {
      over.abort();
      await loop;
      await producer.stop();
    },
  };
}

function frameOf(job: ScriptedJob, seq: number) {
  const objects = [
    {
      label: 'person',
      score: 0.9,
      track_id: 'a1-1',
      bbox: { format: 'cxcywh_normalized' as const, cx: 0.5, cy: 0.5, width: 0.1, height: 0.1 },
    },
  ];
  const data = {
    job_id: job.job_id,
    attempt: job.attempt,
    seq,
    frame_time_ms: seq * 200,
    image: { width: 64, height: 64 },
    objects,
  };
  return { topic: frameProduced.topic, type: frameProduced.type, data };
}

function endOf(job: ScriptedJob, seq: number) {
  const status = job.status === 'failed' || job.status === 'succeeded' ? job.status : ('stopped' as const);
  return {
    topic: jobEnded.topic,
    type: jobEnded.type,
    data: { job_id: job.job_id, attempt: job.attempt, status, frames_published: seq },
  };
}

/** An FLV stream that never ends, as far as a probe looks. */
async function startStream() {
  const server = createServer((_req, res) => {
    res.writeHead(200, { 'content-type': 'video/x-flv' });
    res.write(Buffer.from('464c5601050000000900000000', 'hex'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/live.flv`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function proxyTo(address: string, random: () => number): Promise<FaultProxy> {
  const { hostname, port } = new URL(address);
  return startFaultProxy({ host: hostname, port: Number(port) }, random);
}

function through(address: string, proxy: FaultProxy): string {
  const url = new URL(address);
  url.port = String(proxy.port);
  return url.href.replace(/\/$/, '');
}
