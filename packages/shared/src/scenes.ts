import { readFileSync } from 'node:fs';
import { ConfigError } from './config.ts';
import { sceneRegistry, sceneView } from '@vision/contracts/scenes';
import type { DetectorSpec, SceneEntry, SceneView } from '@vision/contracts/scenes';

/** The scenes of one registry file, read once at start. */
export interface Scenes {
  /** Every scene in file order, enabled or not, as the scene list shows it. */
  list: SceneView[];
  /** The scene when it exists and is enabled, else undefined. */
  findEnabled(sceneCode: string): SceneEntry | undefined;
  /** Every scene in file order with the name of its detector. */
  entries: SceneEntry[];
  /** Detector descriptions by name. */
  detectors: Record<string, DetectorSpec>;
}

/**
 * Reads and checks the registry of scenes.
 * @throws ConfigError when the file is missing, is no JSON or does not hold together; names every problem.
 */
export function loadScenes(path: string): Scenes {
  const registry = sceneRegistry.safeParse(readJson(path));
  if (!registry.success) {
    const problems = registry.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
    throw new ConfigError(`The registry of scenes ${path} is not usable:\n${problems.join('\n')}`);
  }
  const { scenes, detectors } = registry.data;
  return {
    list: scenes.map((scene) => sceneView.parse(scene)),
    findEnabled: (sceneCode) => scenes.find((scene) => scene.enabled && scene.scene_code === sceneCode),
    entries: scenes,
    detectors,
  };
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new ConfigError(`The registry of scenes ${path} cannot be read as JSON`, { cause: error });
  }
}
