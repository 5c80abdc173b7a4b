import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { ConfigError } from './config.ts';
import { loadScenes } from './scenes.ts';

const scene = {
  scene_code: 'smoke_only',
  name: 'Smoke',
  description: 'Finds smoke.',
  enabled: true,
  labels: ['smoke'],
  lower_bound: 0.3,
  default_min_score: 0.8,
  detector: 'colour',
};
const detectors = { colour: { kind: 'chromatic', version: '1' } };

const folder = mkdtempSync(join(tmpdir(), 'scenes-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(content: unknown): string {
  const path = join(folder, 'scenes.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

test('the registry that ships opens the five scenes and keeps the helmet scene closed', () => {
  const scenes = loadScenes(new URL('../../../config/scenes.json', import.meta.url).pathname);
  const open = scenes.list.filter((entry) => entry.enabled).map((entry) => entry.scene_code);
  expect(open).toEqual(['person_vehicle', 'ship', 'fishing', 'fire_smoke', 'cow_sheep']);
  expect(scenes.findEnabled('helmet')).toBeUndefined();
  expect(scenes.findEnabled('fire_smoke')?.detector).toBe('chromatic');
});

test('a scene as callers see it does not name its detector', () => {
  const [view] = loadScenes(fileOf({ detectors, scenes: [scene] })).list;
  expect(view).toEqual({ ...scene, detector: undefined });
  expect(Object.keys(view ?? {})).not.toContain('detector');
});

test.each([
  ['an unknown detector', { detectors, scenes: [{ ...scene, detector: 'other' }] }, 'unknown detector other'],
  [
    'an enabled scene without a detector',
    { detectors, scenes: [{ ...scene, detector: undefined }] },
    'names no detector',
  ],
  ['a label the detector cannot say', { detectors, scenes: [{ ...scene, labels: ['cow'] }] }, 'label cow'],
  ['a repeated scene code', { detectors, scenes: [scene, scene] }, 'scene codes repeat'],
  ['a threshold below the lower bound', { detectors, scenes: [{ ...scene, default_min_score: 0.1 }] }, 'lower_bound'],
  ['an unknown property', { detectors, scenes: [{ ...scene, colour: 'red' }] }, 'colour'],
  ['text that is no JSON', 'scenes:', 'cannot be read as JSON'],
])('a registry with %s is refused', (_case, content, words) => {
  expect(() => loadScenes(fileOf(content))).toThrow(ConfigError);
  expect(() => loadScenes(fileOf(content))).toThrow(words);
});
