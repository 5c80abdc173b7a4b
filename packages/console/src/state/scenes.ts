import type { Scene } from '@vision/client';
import { useSession } from './session.ts';

/** The scene that forms begin with: people and vehicles where there is one, as every viewer has some at hand. */
export function firstScene(scenes: readonly Scene[]): string {
  const enabled = scenes.filter(({ enabled: isEnabled }) => isEnabled);
  return (enabled.find(({ scene_code: code }) => code === 'person_vehicle') ?? enabled[0])?.scene_code ?? '';
}

/** A scene of the registry; undefined for one that is gone. */
export const useScene = (code: string | undefined): Scene | undefined =>
  useSession().scenes.find((scene) => scene.scene_code === code);
