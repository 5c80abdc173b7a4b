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
const model = {
  kind: 'onnx',
  version: '1',
  file: 'smoke.onnx',
  classes: ['smoke'],
  input: { name: 'images', resize: 'stretch', colour_order: 'rgb', layout: 'nchw' },
  decode: { kind: 'yolo', output: 'output', layout: 'candidates_last' },
};
const detectors = { colour: { ...model, input: { ...model.input, shapes: [[416, 416]] } } };

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
  expect(scenes.findEnabled('fire_smoke')?.detector).toBe('fire-352');
});

test('a scene as callers see it does not name its detector', () => {
  const [view] = loadScenes(fileOf({ detectors, scenes: [scene] })).list;
  expect(view).toEqual({ ...scene, detector: undefined });
  expect(Object.keys(view ?? {})).not.toContain('detector');
});

test('every scene that ships says how its objects are found, on what that was measured, and what it mistakes', () => {
  const scenes = loadScenes(new URL('../../../config/scenes.json', import.meta.url).pathname);
  for (const { quality } of scenes.list) {
    expect(quality).toEqual(expect.objectContaining({ method: expect.any(String), measured_on: expect.any(String) }));
    expect(quality?.limits.length).toBeGreaterThan(0);
  }
});

test('callers see the quality of a scene as the registry states it, and none where it states none', () => {
  const figure = { measure: 'recall', label: 'smoke', input: 'video', min_score: 0.8, value: 0.7 };
  const quality = { method: 'Colour.', measured_on: 'Ten videos', figures: [figure], limits: ['Fog is smoke.'] };
  const { list } = loadScenes(
    fileOf({
      detectors,
      scenes: [
        { ...scene, quality },
        { ...scene, scene_code: 'smoke_too' },
      ],
    }),
  );
  expect(list[0]?.quality).toEqual(quality);
  expect(list[1]).not.toHaveProperty('quality');
});

const curve = [
  [0, 0],
  [0.3, 0.1],
  [1, 1],
];
const measured = 'on ten pictures';
const calibrated = (labels: Record<string, unknown>) => ({
  colour: { ...detectors.colour, calibration: { version: '1', floor: 0.3, labels } },
});
const own = { smoke: { curve, measured } };

test('a scene may keep more than its default shows, down to the floor of its detector', () => {
  const content = { detectors: calibrated(own), scenes: [{ ...scene, lower_bound: 0.1 }] };
  expect(loadScenes(fileOf(content)).detectors['colour']?.calibration?.labels['smoke']?.curve).toEqual(curve);
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
  [
    'a figure for a word the scene does not have',
    {
      detectors,
      scenes: [
        {
          ...scene,
          quality: {
            method: 'Colour.',
            measured_on: 'Ten videos',
            figures: [{ measure: 'recall', label: 'fire', input: 'video', min_score: 0.8, value: 0.7 }],
            limits: [],
          },
        },
      ],
    },
    'a figure for fire',
  ],
  [
    'a lower bound that no score is below',
    { detectors: calibrated(own), scenes: [{ ...scene, lower_bound: 0.0999 }] },
    'scene smoke_only: lower_bound 0.0999 is below 0.1, the lowest score behind the floor 0.3',
  ],
  [
    'a label without a curve',
    { detectors: calibrated({ fire: own.smoke }), scenes: [scene] },
    'label smoke has no curve in the calibration',
  ],
  [
    'a curve for a word that the detector cannot say',
    { detectors: calibrated({ cow: own.smoke, '*': own.smoke }), scenes: [scene] },
    'detector colour: calibrates cow',
  ],
  [
    'a curve that falls',
    {
      detectors: calibrated({
        '*': {
          curve: [
            [0, 0],
            [0.5, 0.6],
            [0.7, 0.4],
            [1, 1],
          ],
          measured,
        },
      }),
      scenes: [scene],
    },
    'detectors.colour.calibration.labels.*.curve: has to rise',
  ],
  [
    'a detector of a kind that does not exist',
    { detectors: { colour: { kind: 'chromatic', version: '1' } }, scenes: [scene] },
    'detectors.colour.kind',
  ],
  ['an unknown property', { detectors, scenes: [{ ...scene, colour: 'red' }] }, 'colour'],
  ['text that is no JSON', 'scenes:', 'cannot be read as JSON'],
])('a registry with %s is refused', (_case, content, words) => {
  expect(() => loadScenes(fileOf(content))).toThrow(ConfigError);
  expect(() => loadScenes(fileOf(content))).toThrow(words);
});

const registryWith = (input: object, more: object = {}) => ({
  detectors: { colour: { ...model, input: { ...model.input, ...input } } },
  scenes: [{ ...scene, ...more }],
});
const shapesOf = (content: unknown) => {
  const { colour } = loadScenes(fileOf(content)).detectors;
  return colour && 'input' in colour ? colour.input.shapes : undefined;
};

test('a model has either one fixed shape or a list of shapes to choose from', () => {
  expect(shapesOf(registryWith({ width: 300, height: 200 }))).toEqual([[300, 200]]);
  const shapes = [
    [416, 416],
    [544, 416],
  ];
  expect(shapesOf(registryWith({ shapes }))).toEqual(shapes);
});

test.each([
  ['no shape', registryWith({}), 'either width and height, or shapes'],
  ['half a shape', registryWith({ width: 416 }), 'either width and height, or shapes'],
  ['a shape beside a list', registryWith({ width: 416, height: 416, shapes: [[416, 416]] }), 'either width and height'],
  ['sides that a network cannot halve', registryWith({ shapes: [[420, 416]] }), 'multiples of 32'],
  [
    'shapes that no image can choose between',
    registryWith({
      shapes: [
        [416, 416],
        [64, 64],
      ],
    }),
    'the same aspect',
  ],
  [
    'a scene with a shape that its detector does not list',
    registryWith({ shapes: [[416, 416]] }, { input_shapes: [[544, 416]] }),
    'input shape 544 × 416 is none of colour',
  ],
])('a registry with %s is refused', (_case, content, words) => {
  expect(() => loadScenes(fileOf(content))).toThrow(words);
});
