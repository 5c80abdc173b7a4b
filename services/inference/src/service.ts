import type { RequestHandler } from 'express';
import { availableParallelism } from 'node:os';
import { createApp } from '@vision/shared/http/app';
import { requireStaticToken } from '@vision/shared/http/authenticate';
import { healthListener } from '@vision/shared/http/health';
import { createHttpServer } from '@vision/shared/http/server';
import type { RunningService, ServiceContext } from '@vision/shared/run';
import { loadScenes } from '@vision/shared/scenes';
import type { Config } from './config.ts';
import { createGate } from './detectors/gate.ts';
import { startDetectors } from './detectors/start-detectors.ts';
import { routes } from './http/routes.ts';
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
  const app = createApp({ routes: routes(deps), authenticate: authenticationOf(config), logger });
  const server = createHttpServer(app, { host: config.HOST, port: config.PORT });
  const health = createHttpServer(healthListener({ ready: () => detectors.isAlive() }), {
    host: config.HOST,
    port: config.HEALTH_PORT,
  });
  const service: InferenceService = {
    port: config.PORT,
    healthPort: config.HEALTH_PORT,
    start: async () => {
      service.healthPort = await health.start();
      service.port = await server.start();
    },
    stopPhases: [
      { name: 'http', timeoutMs: config.SHUTDOWN_GRACE_MS, stop: () => server.stop(10_000) },
      { name: 'detectors', timeoutMs: 5_000, stop: () => detectors.stop() },
      { name: 'health', timeoutMs: 2_000, stop: () => health.stop(1_000) },
    ],
  };
  return service;
}

/** Detection alone keeps nothing. */
export async function migrateDatabase(): Promise<void> {
  return Promise.resolve();
}

function authenticationOf({ INFERENCE_TOKEN: token }: Config): RequestHandler {
  return token === undefined ? (_req, _res, next) => next() : requireStaticToken(token);
}
