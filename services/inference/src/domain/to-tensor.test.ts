import { expect, test } from '@jest/globals';
import type { TensorInput } from '@vision/contracts/model-input';
import { placeImage } from './placement.ts';
import { toTensor } from './to-tensor.ts';

const input: TensorInput = {
  name: 'images',
  width: 4,
  height: 2,
  resize: 'stretch',
  padding_value: 114,
  colour_order: 'rgb',
  layout: 'nchw',
  data_type: 'float32',
  mean: [0, 0, 0],
  std: [1, 1, 1],
};

/** 4 x 2 pixels whose red is the pixel's number, green that plus 100, blue that plus 200. */
const picture = {
  width: 4,
  height: 2,
  data: Uint8Array.from({ length: 24 }, (_, index) => Math.floor(index / 3) + 100 * (index % 3)),
};
const whole = placeImage(picture, input);

test('a stretched image fills the input', () => {
  expect(placeImage({ width: 1000, height: 10 }, input)).toEqual({ width: 4, height: 2, left: 0, top: 0 });
});

test.each([
  [
    { width: 100, height: 100 },
    { width: 2, height: 2, left: 1, top: 0 },
  ],
  [
    { width: 400, height: 100 },
    { width: 4, height: 1, left: 0, top: 0 },
  ],
  [
    { width: 1, height: 50_000 },
    { width: 1, height: 2, left: 1, top: 0 },
  ],
])('a letterboxed image of %o keeps its aspect ratio in the middle', (original, placement) => {
  expect(placeImage(original, { ...input, resize: 'letterbox' })).toEqual(placement);
});

test('a scaled image is placed where its original is', () => {
  const letterbox = { ...input, width: 416, height: 416, resize: 'letterbox' as const };
  for (const original of [
    { width: 768, height: 576 },
    { width: 3, height: 4001 },
    { width: 1279, height: 719 },
  ]) {
    const placement = placeImage(original, letterbox);
    expect(placeImage(placement, letterbox)).toEqual(placement);
  }
});

test('planes come one after the other in the order of colours', () => {
  const { shape, data } = toTensor(picture, whole, input);
  expect(shape).toEqual([1, 3, 2, 4]);
  const plane = (first: number) => [0, 1, 2, 3, 4, 5, 6, 7].map((pixel) => pixel + first);
  expect([...data]).toEqual([...plane(0), ...plane(100), ...plane(200)]);
});

test('blue comes first where the model wants it so, and every channel has its own mean and deviation', () => {
  const { data } = toTensor(picture, whole, { ...input, colour_order: 'bgr', mean: [200, 100, 0], std: [1, 2, 4] });
  expect([data[3], data[8 + 3], data[16 + 3]]).toEqual([3, 1.5, 0.75]);
});

test('pixels stay together in the layout nhwc and bytes stay bytes', () => {
  const { shape, data, dataType } = toTensor(picture, whole, { ...input, layout: 'nhwc', data_type: 'uint8' });
  expect(shape).toEqual([1, 2, 4, 3]);
  expect(dataType).toBe('uint8');
  expect(data).toEqual(picture.data);
});

test('what a letterbox leaves free gets the padding value', () => {
  const square = { ...input, width: 4, height: 4, resize: 'letterbox' as const };
  const { data } = toTensor(picture, placeImage(picture, square), square);
  expect([...data.subarray(0, 16)]).toEqual([114, 114, 114, 114, 0, 1, 2, 3, 4, 5, 6, 7, 114, 114, 114, 114]);
});
