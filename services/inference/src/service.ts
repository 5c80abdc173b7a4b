import { availableParallelism } from 'node:os';
import { migrateOnce } from '@vision/shared/db/migrate';
import { createApp } from '@vision/shared/http/app';
import { requireStaticToken } from '@vision/shared/http/authenticate';
import { healthListener } from '@vision/shared/http/health';
import { createHttpServer } from '@vision/shared/http/server';
import type { RunningService, ServiceContext } from '@vision/shared/run';
import { loadScenes } from '@vision/shared/scenes';
import type { Config } from './config.ts';
import { migrations } from './db/migrations/list.ts';
import { createGate } from './detectors/gate.ts';
import { startDetectors } from './detectors/start-detectors.ts';
import { routes } from './http/routes.ts';
import { createJobs } from './jobs/create-jobs.ts';
import { completeJobsConfig } from './jobs/jobs-config.ts';
import { createSignals } from './signals.ts';

export interface InferenceService extends RunningService {
  /** Known after `start`. */
  port: number;
  healthPort: number;
}

/** Builds the service from its configuration and loads the models; nothing is listening before `start`. */
export async function createService(config: Config, { logger }: ServiceContext): Promise<InferenceService> {
  const threads = config.DETECT_THREADS === 0 ? availableParallelism() : config.DETECT_THREADS;
  const detectors = await startDetectors({
    scenes: loadScenes(config.SCENES_FILE),
    modelsDir: config.MODELS_DIR,
    threads,
    intraOpThreads: config.DETECT_INTRA_OP_THREADS,
    logger,
  });
  // One picture is decoded while another is detected; more at once would only share the same cores.
  const atOnce = 2 * threads;
  const deps = {
    detectors,
    signals: createSignals(logger),
    work: createGate({ concurrency: atOnce, queue: Infinity }),
    places: createGate({ concurrency: atOnce + config.DETECT_QUEUE, queue: 0 }),
  };
  const jobsConfig = completeJobsConfig(config);
  const jobs = jobsConfig && (await createJobs(jobsConfig, { detectors, threads, logger }));
  const app = createApp({
    routes: routes(deps, jobs?.routeDeps),
    authenticate: authenticationOf(config),
    logger,
  });
  const server = createHttpServer(app, { host: config.HOST, port: config.PORT });
  const health = createHttpServer(
    healthListener({ ready: async () => detectors.isAlive() && (await (jobs?.isReady() ?? true)) }),
    {
      host: config.HOST,
      port: config.HEALTH_PORT,
    },
  );
  const service: InferenceService = {
    port: config.PORT,
    healthPort: config.HEALTH_PORT,
    start: async () => {
      service.healthPort = await health.start();
      jobs?.start();
      service.port = await server.start();
    },
    stopPhases: [
      { name: 'http', timeoutMs: config.SHUTDOWN_GRACE_MS, stop: () => server.stop(10_000) },
      ...(jobs?.stopPhases ?? []),
      { name: 'detectors', timeoutMs: 5_000, stop: () => detectors.stop() },
      { name: 'health', timeoutMs: 2_000, stop: () => health.stop(1_000) },
    ],
  };
  return service;
}

/** Brings the database of video jobs up to date; detection alone keeps nothing. */
export async function migrateDatabase(config: Config): Promise<void> {
  if (config.DATABASE_URL !== undefined) await migrateOnce(config.DATABASE_URL, 'inference', migrations);
}

function authenticationOf({ INFERENCE_TOKEN: token }: Config): ReturnType<typeof requireStaticToken> {
  return token === undefined ? (_req, _res, next) => next() : requireStaticToken(token);
}
