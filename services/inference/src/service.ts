import { availableParallelism } from 'node:os';
import { createGate } from '@vision/shared/async/gate';
import type { Gate } from '@vision/shared/async/gate';
import { migrateOnce } from '@vision/shared/db/migrate';
import { createApp } from '@vision/shared/http/app';
import { healthListener } from '@vision/shared/http/health';
import { createHttpServer } from '@vision/shared/http/server';
import type { RunningService, ServiceContext } from '@vision/shared/run';
import { loadScenes } from '@vision/shared/scenes';
import { createAccess } from './access.ts';
import { completeVideoConfig } from './config.ts';
import type { Config } from './config.ts';
import { migrations } from './db/migrations/list.ts';
import { createDetectors } from './detectors/detectors.ts';
import { routes } from './http/routes.ts';
import { createPictureDecoder } from './pictures/create-picture-decoder.ts';
import { createSandbox } from './sandbox/sandbox.ts';
import { createSignals } from './signals.ts';
import type { Signals } from './signals.ts';
import type { PictureDeps } from './use-cases/deps.ts';
import { createVideoJobs } from './video-jobs.ts';

export interface InferenceService extends RunningService {
  /** Known after `start`, as the other port. */
  readonly port: number;
  readonly healthPort: number;
}

/** Builds the service from its configuration; nothing is loaded, connected or listening before `start`. */
export async function createService(config: Config, { logger }: ServiceContext): Promise<InferenceService> {
  const threads = config.DETECT_THREADS === 0 ? availableParallelism() : config.DETECT_THREADS;
  const signals = createSignals(logger);
  const sandbox = await createSandbox(config.SANDBOX);
  signals.sandboxChosen(config.SANDBOX, sandbox.wall);
  const pictures = createPictureDecoder({
    sandbox,
    atOnce: threads,
    limits: { cpuMs: config.PICTURE_CPU_MS, waitMs: config.PICTURE_WAIT_MS },
    onLost: signals.pictureDecoderLost,
  });
  const detectors = createDetectors({
    scenes: loadScenes(config.SCENES_FILE),
    modelsDir: config.MODELS_DIR,
    threads,
    intraOpThreads: config.DETECT_INTRA_OP_THREADS,
    logger,
  });
  const deps: PictureDeps = {
    logger,
    signals,
    detectors,
    pictures,
    sandbox,
    // A picture keeps one core busy, whether it is decoded or detected: more at once would only delay each other. One
    // more for whoever has none under way: most are decoded sooner than the work of others ends.
    detectionGate: createGate({ concurrency: threads, spare: 1 }),
    requestGate: watchedGate(2 * threads + config.DETECT_QUEUE, signals),
    pictureAnswerMs: config.DETECT_ANSWER_MS,
  };
  const videoConfig = completeVideoConfig(config);
  const jobs = videoConfig && createVideoJobs(videoConfig, deps, threads);

  const app = createApp({ routes: routes(deps, jobs?.deps), ...createAccess(config, logger), logger });
  const server = createHttpServer(app, { host: config.HOST, port: config.PORT });
  const ready = async () => detectors.isAlive() && (jobs === undefined || (await jobs.isReady()));
  const health = createHttpServer(healthListener({ ready }), { host: config.HOST, port: config.HEALTH_PORT });

  const graceMs = config.SHUTDOWN_GRACE_MS;
  return {
    get port() {
      return server.port;
    },
    get healthPort() {
      return health.port;
    },
    start: async () => {
      pictures.start();
      await detectors.start();
      await health.start();
      await jobs?.start();
      await server.start();
    },
    stopPhases: [
      { name: 'http', timeoutMs: graceMs, stop: () => server.stop(graceMs - 1_000) },
      { name: 'worker', timeoutMs: 15_000, stop: async () => jobs?.stopWorker() },
      { name: 'detectors', timeoutMs: 5_000, stop: () => detectors.stop() },
      { name: 'pictures', timeoutMs: 1_000, stop: async () => pictures.stop() },
      { name: 'health', timeoutMs: 2_000, stop: () => health.stop(1_000) },
      { name: 'clients', timeoutMs: 10_000, stop: async () => jobs?.stopClients() },
      { name: 'sandbox', timeoutMs: 1_000, stop: async () => sandbox.close() },
    ],
  };
}

/** The places for pictures in this process, which an autoscaler sees. */
function watchedGate(places: number, signals: Signals): Gate {
  const gate = createGate({ concurrency: places, queue: 0, leavesRoom: true });
  signals.picturesWatched(gate.load, places);
  return gate;
}

/** Brings the database of video jobs up to date; detection alone keeps nothing. */
export async function migrateDatabase(config: Config): Promise<void> {
  if (config.DATABASE_URL !== undefined) await migrateOnce(config.DATABASE_URL, 'inference', migrations);
}
