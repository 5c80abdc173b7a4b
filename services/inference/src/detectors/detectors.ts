import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { RAW_SCORES } from '@vision/contracts/calibration';
import type { Shape } from '@vision/contracts/model-input';
import type { DetectorSpec, SceneEntry } from '@vision/contracts/scenes';
import { ConfigError } from '@vision/shared/config';
import type { Logger } from '@vision/shared/logger';
import type { Scenes } from '@vision/shared/scenes';
import { isModelReady } from '../clients/infer.ts';
import { createCalibratedDetector } from './calibrated-detector.ts';
import type { CalibratedDetector, Detector } from './detector.ts';
import { createKserveDetector } from './kserve-detector.ts';
import { createPooledDetector } from './pooled-detector.ts';
import type { ThreadSetup } from './thread-messages.ts';
import { ThreadPool } from './thread-pool.ts';
import type { PoolSetup } from './thread-pool.ts';

/** What a new video is expected to be, until it is seen. */
const EXPECTED_VIDEO = { width: 1280, height: 720 };

/** A scene that can be detected, with what detects it. */
export interface ServedScene {
  scene: SceneEntry;
  detector: CalibratedDetector;
}

export interface Detectors {
  /** Loads every model that an enabled scene uses. @throws ConfigError when one is missing or cannot be loaded. */
  start(): Promise<void>;
  /** Undefined for scenes that do not exist or are not enabled. */
  find(sceneCode: string): ServedScene | undefined;
  /** Enabled scenes whose model can answer now. */
  served(): Promise<ServedScene[]>;
  /** Processor time of one detection in a new video, milliseconds: the dearest of the scenes. */
  expectedMs(): number;
  /** Whether this process can do its part; model servers are not asked. */
  isAlive(): boolean;
  stop(): Promise<void>;
}

export interface DetectorOptions {
  scenes: Scenes;
  modelsDir: string;
  /** Threads that detect, each with one image at a time. */
  threads: number;
  logger: Logger;
}

/** What detects the enabled scenes of the registry. */
export function createDetectors({ scenes, modelsDir, threads, logger }: DetectorOptions): Detectors {
  const enabled = scenes.entries.filter((scene) => scene.enabled && scene.detector !== undefined);
  const specs = new Map(enabled.flatMap(({ detector: name = '' }) => specNamed(scenes, name)));
  const setup: PoolSetup = { detectors: detectorsInThreads(specs, modelsDir) };
  const needsThreads = Object.keys(setup.detectors).length > 0;
  const pool = new ThreadPool({ threads: needsThreads ? threads : 0, setup, logger });
  const servedScenes = new Map(enabled.flatMap((scene) => servedBy(scene, specs, pool)));

  const isReady = async (spec: DetectorSpec) => (spec.kind === 'kserve' ? isModelReady(spec) : pool.alive > 0);
  return {
    start: async () => {
      for (const entry of Object.values(setup.detectors)) checkReadable(entry.path);
      await pool.start().catch((cause: unknown) => {
        throw new ConfigError('A detection model cannot be loaded', { cause });
      });
      await measureCosts([...servedScenes.values()], specs);
    },
    find: (sceneCode) => servedScenes.get(sceneCode),
    served: async () => {
      const entries = await Promise.all([...specs].map(async ([name, spec]) => [name, await isReady(spec)] as const));
      const ready = new Map(entries);
      return [...servedScenes.values()].filter(({ scene }) => ready.get(scene.detector ?? ''));
    },
    expectedMs: () => Math.max(0, ...[...servedScenes.values()].map(({ detector }) => detector.costMs(EXPECTED_VIDEO))),
    isAlive: () => pool.alive > 0 || !needsThreads,
    stop: () => pool.stop(),
  };
}

/** The cost of a detection is known before the first stream comes, and the first image finds everything warm. */
async function measureCosts(
  servedScenes: readonly ServedScene[],
  specs: ReadonlyMap<string, DetectorSpec>,
): Promise<void> {
  const own = servedScenes.filter(({ scene }) => specs.get(scene.detector ?? '')?.kind !== 'kserve');
  const models = new Map(own.map(({ scene, detector }) => [scene.detector, detector]));
  for (const detector of models.values()) {
    const { width, height } = detector.fit(EXPECTED_VIDEO);
    const blank = { width, height, data: new Uint8Array(width * height * 3) };
    // Two at once: one alone would use the cores of others, and tell nothing.
    const look = () => detector.detect(blank, { minScore: 1, labels: [] });
    await Promise.all([look(), look()]);
  }
}

function specNamed({ detectors }: Scenes, name: string): [string, DetectorSpec][] {
  const spec = detectors[name];
  return spec ? [[name, spec]] : [];
}

/** What detects a scene, with the shapes of its model that this scene uses. */
function servedBy(
  scene: SceneEntry,
  specs: ReadonlyMap<string, DetectorSpec>,
  pool: ThreadPool,
): [string, ServedScene][] {
  const { scene_code: code, detector: name = '', input_shapes: shapes } = scene;
  const spec = specs.get(name);
  return spec ? [[code, { scene, detector: createDetector(name, spec, { pool, shapes }) }]] : [];
}

function createDetector(
  name: string,
  spec: DetectorSpec,
  { pool, shapes }: { pool: ThreadPool; shapes: Shape[] | undefined },
): CalibratedDetector {
  const raw = createRawDetector(name, spec, { pool, shapes });
  return createCalibratedDetector(raw, spec.calibration ?? RAW_SCORES);
}

function createRawDetector(
  name: string,
  spec: DetectorSpec,
  { pool, shapes }: { pool: ThreadPool; shapes: Shape[] | undefined },
): Detector {
  const used = shapes ?? spec.input.shapes;
  return spec.kind === 'kserve' ? createKserveDetector(spec, used) : createPooledDetector(name, spec, pool, used);
}

function detectorsInThreads(specs: ReadonlyMap<string, DetectorSpec>, modelsDir: string): ThreadSetup['detectors'] {
  const detectors: ThreadSetup['detectors'] = {};
  for (const [name, spec] of specs) {
    if (spec.kind === 'onnx') detectors[name] = { spec, path: join(modelsDir, spec.file) };
  }
  return detectors;
}

function checkReadable(path: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (cause) {
    throw new ConfigError(`The model ${path} cannot be read`, { cause });
  }
}
