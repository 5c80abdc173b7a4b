import { expect, test } from '@jest/globals';
import type { TensorInput } from '@vision/contracts/model-input';
import type { OutputDecoding } from '@vision/contracts/scenes';
import { ModelOutputError } from './candidate.ts';
import type { OutputTensor } from './candidate.ts';
import { decodeOutputs } from './decode-outputs.ts';
import type { TensorModel } from './decode-outputs.ts';
import { placeImage } from './placement.ts';

const input: TensorInput = {
  name: 'images',
  width: 32,
  height: 32,
  resize: 'stretch',
  padding_value: 114,
  colour_order: 'rgb',
  layout: 'nchw',
  data_type: 'float32',
  mean: [0, 0, 0],
  std: [1, 1, 1],
};

function modelOf(decode: OutputDecoding, over: Partial<TensorModel> = {}): TensorModel {
  return { classes: ['cow', 'sheep'], input, decode, nms_iou: 0.6, max_objects: 100, ...over };
}

function decode(outputs: Record<string, OutputTensor>, model: TensorModel, minScore = 0.3) {
  const placement = placeImage({ width: 64, height: 32 }, model.input);
  return decodeOutputs(outputs, model, { placement, minScore, labels: ['cow', 'sheep'] });
}

const nanodet: OutputDecoding = { kind: 'nanodet', scores: 's', distances: 'd', strides: [8, 16], bins: 3 };

/** Scores and distances of 16 + 4 cells; every side lies one stride away with certainty. */
function nanodetOutputs(scores: Record<number, [number, number]>): Record<string, OutputTensor> {
  const s = new Float32Array(20 * 2);
  for (const [cell, values] of Object.entries(scores)) s.set(values, Number(cell) * 2);
  const d = new Float32Array(20 * 12).map((_, index) => (index % 3 === 1 ? 40 : 0));
  return { s: { shape: [1, 20, 2], data: s }, d: { shape: [1, 20, 12], data: d } };
}

test('a NanoDet cell becomes a box around its middle, one expected distance to every side', () => {
  // Cell 5 of stride 8 lies in column 1, row 1: its middle is (12, 12), the box reaches from 4 to 20.
  expect(decode(nanodetOutputs({ 5: [0.9, 0.1] }), modelOf(nanodet))).toEqual([
    { label: 'cow', score: 0.9, bbox: { format: 'cxcywh_normalized', cx: 0.375, cy: 0.375, width: 0.5, height: 0.5 } },
  ]);
});

test('cells of the second stride follow those of the first and boxes are cut at the edge of the image', () => {
  // Cell 19 is the last of stride 16: middle (24, 24), the box reaches from 8 to 40 and is cut at 32.
  expect(decode(nanodetOutputs({ 19: [0, 0.8] }), modelOf(nanodet))).toEqual([
    {
      label: 'sheep',
      score: 0.8,
      bbox: { format: 'cxcywh_normalized', cx: 0.625, cy: 0.625, width: 0.75, height: 0.75 },
    },
  ]);
});

test('a distribution over distances counts by its expectation', () => {
  const outputs = nanodetOutputs({ 5: [0.9, 0] });
  // Equal weight on all bins: the expected distance is one stride again, with no bin preferred.
  const even = { ...outputs, d: { shape: [1, 20, 12], data: new Float32Array(240) } };
  expect(decode(even, modelOf(nanodet))[0]?.bbox).toEqual(decode(outputs, modelOf(nanodet))[0]?.bbox);
});

test('objects come highest score first and only at or above the asked score', () => {
  const outputs = nanodetOutputs({ 0: [0.5, 0], 3: [0.7, 0], 12: [0.25, 0] });
  expect(decode(outputs, modelOf(nanodet), 0.5).map(({ score }) => score)).toEqual([0.7, 0.5]);
});

test('classes that are not asked for are left out', () => {
  const placement = placeImage({ width: 32, height: 32 }, input);
  const outputs = nanodetOutputs({ 0: [0.9, 0.8] });
  const objects = decodeOutputs(outputs, modelOf(nanodet), { placement, minScore: 0.3, labels: ['sheep'] });
  expect(objects.map(({ label }) => label)).toEqual(['sheep']);
});

test.each([
  ['a missing output', { s: { shape: [1, 20, 2], data: new Float32Array(40) } }],
  ['another number of cells', { ...nanodetOutputs({}), s: { shape: [1, 19, 2], data: new Float32Array(38) } }],
  ['another rank', { ...nanodetOutputs({}), s: { shape: [20, 2], data: new Float32Array(40) } }],
])('%s is an error of the model, not an image without objects', (_case, outputs) => {
  expect(() => decode(outputs as Record<string, OutputTensor>, modelOf(nanodet))).toThrow(ModelOutputError);
});

test('numbers that are no numbers never become objects', () => {
  const outputs = nanodetOutputs({ 5: [Number.NaN, 0.9] });
  const broken = { ...outputs, d: { shape: [1, 20, 12], data: new Float32Array(240).fill(Number.NaN) } };
  expect(decode(broken, modelOf(nanodet))).toEqual([]);
});

test.each(['candidates_last', 'candidates_first'] as const)('a YOLO tensor with %s is read', (layout) => {
  const rows = [
    [16, 16, 8, 16, 0.9, 0.1],
    [4, 4, 4, 4, 0.1, 0.2],
  ];
  const first = layout === 'candidates_first';
  const data = Float32Array.from(
    first ? rows.flat() : [0, 1, 2, 3, 4, 5].flatMap((v) => rows.map((row) => row[v] ?? 0)),
  );
  const output = { shape: first ? [1, 2, 6] : [1, 6, 2], data };
  expect(decode({ o: output }, modelOf({ kind: 'yolo', output: 'o', layout, objectness: false }))).toEqual([
    { label: 'cow', score: 0.9, bbox: { format: 'cxcywh_normalized', cx: 0.5, cy: 0.5, width: 0.25, height: 0.5 } },
  ]);
});

test('objectness multiplies the class score', () => {
  const output = { shape: [1, 1, 7], data: Float32Array.from([16, 16, 8, 8, 0.5, 0, 0.8]) };
  const model = modelOf({ kind: 'yolo', output: 'o', layout: 'candidates_first', objectness: true });
  expect(decode({ o: output }, model)).toMatchObject([{ label: 'sheep', score: 0.4 }]);
});

test.each([
  ['xyxy', [0.25, 0, 0.75, 0.5], true],
  ['yxyx', [0, 0.25, 0.5, 0.75], true],
  ['cxcywh', [16, 8, 16, 16], false],
] as const)('boxes in the form %s are read', (format, numbers, normalized) => {
  const boxes = { shape: [1, 1, 4], data: Float32Array.from(numbers) };
  const scores = { shape: [1, 1, 2], data: Float32Array.from([0.2, 0.6]) };
  const model = modelOf({ kind: 'boxes', boxes: 'b', scores: 's', format, normalized });
  expect(decode({ b: boxes, s: scores }, model)).toEqual([
    { label: 'sheep', score: 0.6, bbox: { format: 'cxcywh_normalized', cx: 0.5, cy: 0.25, width: 0.5, height: 0.5 } },
  ]);
});

test('class numbers in a tensor of their own are read', () => {
  const outputs = {
    b: { shape: [1, 2, 4], data: Float32Array.from([0, 0, 16, 16, 0, 0, 8, 8]) },
    s: { shape: [1, 2], data: Float32Array.from([0.9, 0.8]) },
    l: { shape: [1, 2], data: Float64Array.from([7, 1]) },
  };
  const model = modelOf({ kind: 'boxes', boxes: 'b', scores: 's', labels: 'l', format: 'xyxy', normalized: false });
  expect(decode(outputs, model)).toMatchObject([{ label: 'sheep', score: 0.8, bbox: { width: 0.25 } }]);
});

test('boxes of a letterboxed image are relative to the image, not to the padded input', () => {
  // 64 x 32 in 32 x 32: the image is 32 x 16, eight rows down. A box over all of it is the whole image.
  const boxes = { shape: [1, 1, 4], data: Float32Array.from([0, 8, 32, 24]) };
  const scores = { shape: [1, 1, 2], data: Float32Array.from([0.9, 0]) };
  const decoding: OutputDecoding = { kind: 'boxes', boxes: 'b', scores: 's', format: 'xyxy', normalized: false };
  const model = modelOf(decoding, { input: { ...input, resize: 'letterbox' } });
  expect(decode({ b: boxes, s: scores }, model)[0]?.bbox).toEqual({
    format: 'cxcywh_normalized',
    cx: 0.5,
    cy: 0.5,
    width: 1,
    height: 1,
  });
});

test.each([
  [0.29996, [0.3]],
  [0.29994, []],
  // The nearest 32-bit number is a little smaller than 0.7.
  [0.7, [0.7]],
])('a score of %d is compared with a bound as it is shown', (score, shown) => {
  const outputs = nanodetOutputs({ 5: [score, 0] });
  expect(decode(outputs, modelOf(nanodet), score === 0.7 ? 0.7 : 0.3).map((object) => object.score)).toEqual(shown);
});
