import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type { SceneEntry } from '@vision/shared/contracts/scenes';
import { ConfigError } from '@vision/shared/config';
import type { Logger } from '@vision/shared/logger';
import type { Scenes } from '@vision/shared/scenes';
import { isModelReady } from '../clients/infer.ts';
import type { Detector } from './detector.ts';
import { createKserveDetector } from './kserve-detector.ts';
import { createPooledDetector } from './pooled-detector.ts';
import type { WorkerSetup } from './worker-messages.ts';
import { WorkerPool } from './worker-pool.ts';

/** A scene that can be detected, with what detects it. */
export interface ServedScene {
  scene: SceneEntry;
  detector: Detector;
}

export interface Detectors {
  /** Undefined for scenes that do not exist or are not enabled. */
  find(sceneCode: string): ServedScene | undefined;
  /** Enabled scenes whose model can answer now. */
  served(): Promise<ServedScene[]>;
  /** Whether this process can do its part; model servers are not asked. */
  isAlive(): boolean;
  stop(): Promise<void>;
}

export interface DetectorOptions {
  scenes: Scenes;
  modelsDir: string;
  /** Threads that detect, each with one picture at a time. */
  threads: number;
  /** Threads ONNX Runtime uses within each of them. */
  intraOpThreads: number;
  logger: Logger;
}

/** Loads every model that an enabled scene uses. @throws ConfigError when a model file is missing or cannot be loaded. */
export async function startDetectors(options: DetectorOptions): Promise<Detectors> {
  const { scenes, modelsDir, threads, intraOpThreads, logger } = options;
  const enabled = scenes.entries.filter((scene) => scene.enabled && scene.detector !== undefined);
  const setup: WorkerSetup = { intraOpThreads, detectors: pooled(scenes, enabled, modelsDir) };
  const pool = new WorkerPool({ threads: Object.keys(setup.detectors).length > 0 ? threads : 0, setup, logger });
  await pool.start().catch((cause: unknown) => {
    throw new ConfigError('A detection model cannot be loaded', { cause });
  });

  const byName = new Map<string, { detector: Detector; isReady: () => Promise<boolean> }>();
  for (const name of namesOf(enabled)) {
    const spec = scenes.detectors[name];
    if (spec?.kind === 'kserve')
      byName.set(name, { detector: createKserveDetector(spec), isReady: () => isModelReady(spec) });
    else if (spec)
      byName.set(name, { detector: createPooledDetector(name, spec, pool), isReady: async () => pool.alive > 0 });
  }
  const serve = (scene: SceneEntry) => byName.get(scene.detector ?? '');
  return {
    find: (sceneCode) => {
      const scene = enabled.find((entry) => entry.scene_code === sceneCode);
      const entry = scene && serve(scene);
      return entry && { scene, detector: entry.detector };
    },
    served: async () => {
      const ready = new Map(
        await Promise.all([...byName].map(async ([name, entry]) => [name, await entry.isReady()] as const)),
      );
      return enabled.flatMap((scene) => {
        const entry = serve(scene);
        return entry && ready.get(scene.detector ?? '') ? [{ scene, detector: entry.detector }] : [];
      });
    },
    isAlive: () => pool.alive > 0 || Object.keys(setup.detectors).length === 0,
    stop: () => pool.stop(),
  };
}

const namesOf = (scenes: SceneEntry[]) => new Set(scenes.map((scene) => scene.detector ?? ''));

function pooled(scenes: Scenes, enabled: SceneEntry[], modelsDir: string): WorkerSetup['detectors'] {
  const detectors: WorkerSetup['detectors'] = {};
  for (const name of namesOf(enabled)) {
    const spec = scenes.detectors[name];
    if (spec?.kind === 'chromatic') detectors[name] = { spec };
    if (spec?.kind === 'onnx') detectors[name] = { spec, path: existing(join(modelsDir, spec.file)) };
  }
  return detectors;
}

function existing(path: string): string {
  try {
    accessSync(path, constants.R_OK);
    return path;
  } catch (cause) {
    throw new ConfigError(`The model ${path} cannot be read`, { cause });
  }
}
