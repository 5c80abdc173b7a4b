import type { TensorInput } from '@vision/contracts/model-input';
import type { Placement } from './placement.ts';
import type { RgbImage } from './rgb-image.ts';

export interface InputTensor {
  dataType: 'float32' | 'uint8';
  /** `[1, 3, height, width]` or `[1, height, width, 3]`. */
  shape: number[];
  data: Float32Array | Uint8Array;
}

/**
 * The input tensor of an image that already has the size of its placement. Float tensors hold `(value - mean)
 * / std` per channel, read from a table because a channel has only 256 values; the area around a letterboxed
 * image gets the padding value.
 * @param memory of an earlier tensor that is no longer used; reused when it fits
 */
export function toTensor(
  image: RgbImage,
  placement: Placement,
  input: TensorInput,
  memory?: InputTensor['data'],
): InputTensor {
  const { width, height, layout, data_type: dataType } = input;
  const length = width * height * 3;
  const data = memoryFor(dataType, length, memory);
  const planar = layout === 'nchw';
  const target = { data, channelStep: planar ? width * height : 1, pixelStep: planar ? 1 : 3 };
  const tables = [0, 1, 2].map((channel) => valuesOfChannel(channel, input)) as Tables;
  if (placement.width !== width || placement.height !== height) pad(target, tables, input);
  const order = input.colour_order === 'bgr' ? [2, 1, 0] : [0, 1, 2];
  const [first, second, third] = order.map((channel) => target.channelStep * channel) as [number, number, number];
  // The tables of a pixel's colours, by the channel that each colour fills.
  const [red, green, blue] = order.map((channel) => tables[channel]) as Tables;
  for (let y = 0, from = 0; y < image.height; y += 1) {
    let to = ((y + placement.top) * width + placement.left) * target.pixelStep;
    for (let x = 0; x < image.width; x += 1, from += 3, to += target.pixelStep) {
      data[to + first] = red[image.data[from] as number] as number;
      data[to + second] = green[image.data[from + 1] as number] as number;
      data[to + third] = blue[image.data[from + 2] as number] as number;
    }
  }
  return { dataType, shape: planar ? [1, 3, height, width] : [1, height, width, 3], data };
}

type Tables = [Float32Array, Float32Array, Float32Array];

function memoryFor(dataType: InputTensor['dataType'], length: number, memory?: InputTensor['data']) {
  if (dataType === 'uint8')
    return memory instanceof Uint8Array && memory.length === length ? memory : new Uint8Array(length);
  return memory instanceof Float32Array && memory.length === length ? memory : new Float32Array(length);
}

function pad(
  { data, channelStep, pixelStep }: { data: InputTensor['data']; channelStep: number; pixelStep: number },
  tables: Tables,
  { width, height, padding_value: value }: TensorInput,
): void {
  for (const [channel, table] of tables.entries()) {
    const padding = table[value] ?? 0;
    for (let index = 0, to = channel * channelStep; index < width * height; index += 1, to += pixelStep)
      data[to] = padding;
  }
}

function valuesOfChannel(channel: number, { data_type: dataType, mean, std }: TensorInput): Float32Array {
  const table = new Float32Array(256);
  const [offset, divisor] = dataType === 'uint8' ? [0, 1] : [mean[channel] ?? 0, std[channel] ?? 1];
  for (let value = 0; value < 256; value += 1) table[value] = (value - offset) / divisor;
  return table;
}
