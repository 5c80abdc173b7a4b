import { createGate } from '@vision/shared/async/gate';
import type { Gate } from '@vision/shared/async/gate';
import { createApp } from '@vision/shared/http/app';
import { createHealth } from '@vision/shared/http/health';
import type { Health } from '@vision/shared/http/health';
import type { Logger } from '@vision/shared/logger';
import { createHttpServer } from '@vision/shared/http/server';
import type { HttpServer } from '@vision/shared/http/server';
import type { RunningService, ServiceContext } from '@vision/shared/run';
import { stopPhases } from '@vision/shared/stop-times';
import { loadScenes } from '@vision/shared/scenes';
import { usableCores } from './sandbox/usable-cores.ts';
import { createAccess } from './access.ts';
import { completeVideoConfig, stopTimesOf } from './config.ts';
import type { Config } from './config.ts';
import { createDetectors } from './detectors/detectors.ts';
import { routes } from './http/routes.ts';
import { createImageDecoder } from './images/create-image-decoder.ts';
import { createSandbox } from './sandbox/sandbox.ts';
import { createSignals } from './signals.ts';
import type { Signals } from './signals.ts';
import type { ImageDeps } from './use-cases/deps.ts';
import { createVideoJobs } from './video-jobs.ts';
import type { VideoJobs } from './video-jobs.ts';

export interface InferenceService extends RunningService {
  /** Available after `start`, like the other port. */
  readonly port: number;
  readonly healthPort: number;
}

/** Builds the service from its configuration; it loads, connects and listens only in `start`. */
export async function createService(config: Config, { logger }: ServiceContext): Promise<InferenceService> {
  const threads = config.DETECT_THREADS || usableCores();
  const signals = createSignals(logger);
  const sandbox = await createSandbox(config.SANDBOX, undefined, signals.decoderNotStarted);
  signals.sandboxChosen(config.SANDBOX, sandbox.isolation);
  const imageDecoder = createImageDecoder({
    sandbox,
    atOnce: threads,
    limits: { cpuMs: config.PICTURE_CPU_MS, waitMs: config.PICTURE_WAIT_MS },
    onLost: signals.imageDecoderLost,
  });
  const detectors = createDetectors({
    scenes: loadScenes(config.SCENES_FILE),
    modelsDir: config.MODELS_DIR,
    threads,
    logger,
  });
  const deps: ImageDeps = {
    logger,
    signals,
    detectors,
    imageDecoder,
    sandbox,
    ...gatesOf(threads, config.DETECT_QUEUE, signals),
    imageAnswerMs: config.DETECT_ANSWER_MS,
  };
  const videoConfig = completeVideoConfig(config);
  const jobs = videoConfig && createVideoJobs(videoConfig, deps, threads);

  const app = createApp({ routes: routes(deps, jobs?.deps), ...createAccess(config, logger), logger });
  const server = createHttpServer(app, { host: config.HOST, port: config.PORT, keepAliveMs: config.KEEP_ALIVE_MS });
  const health = healthOf(config, { detectors, jobs, server, logger });

  return {
    get port() {
      return server.port;
    },
    get healthPort() {
      return health.port;
    },
    start: async () => {
      imageDecoder.start();
      await detectors.start();
      await health.start();
      await jobs?.start();
      await server.start();
    },
    stopPhases: stopPhases(stopTimesOf(config), {
      drain: health.drain,
      http: server.stop,
      worker: async () => jobs?.stopWorker(),
      detectors: () => detectors.stop(),
      pictures: async () => imageDecoder.stop(),
      health: health.stop,
      clients: async () => jobs?.stopClients(),
      sandbox: async () => sandbox.close(),
    }),
  };
}

/** The slots for images in this process, with metrics for an autoscaler. */
function watchedGate(places: number, signals: Signals): Gate {
  const gate = createGate({ concurrency: places, queue: 0, leavesRoom: true });
  signals.imagesWatched(gate.load, places);
  return gate;
}

interface Parts {
  detectors: ImageDeps['detectors'];
  jobs: VideoJobs | undefined;
  server: HttpServer;
  logger: Logger;
}

function healthOf({ HOST: host, HEALTH_PORT: port }: Config, { detectors, jobs, server, logger }: Parts): Health {
  const ready = () => detectors.isAlive() && jobs?.isReady() !== false;
  return createHealth({ host, port, logger, checks: jobs?.checks ?? [], ready, listeners: [server] });
}

/** Limits of concurrent and of waiting images. */
function gatesOf(threads: number, queue: number, signals: Signals): Pick<ImageDeps, 'detectionGate' | 'requestGate'> {
  return {
    // Decoding or detection keeps one core busy for each image: more concurrent images would only delay each other. One
    // more for an owner with none in progress: most images are decoded before the work of others ends.
    detectionGate: createGate({ concurrency: threads, spare: 1 }),
    requestGate: watchedGate(2 * threads + queue, signals),
  };
}
