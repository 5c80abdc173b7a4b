import type { TensorInput } from '@vision/shared/contracts/model-input';
import type { Placement } from './placement.ts';
import type { RgbImage } from './rgb-image.ts';

export interface InputTensor {
  dataType: 'float32' | 'uint8';
  /** `[1, 3, height, width]` or `[1, height, width, 3]`. */
  shape: number[];
  data: Float32Array | Uint8Array;
}

/**
 * The input tensor of a picture that already has the size of its placement. Float tensors hold `(value - mean)
 * / std` per channel, read from a table because a channel has only 256 values; what a letterbox leaves free
 * gets the padding value.
 */
export function toTensor(image: RgbImage, placement: Placement, input: TensorInput): InputTensor {
  const { width, height, layout, data_type: dataType } = input;
  const size = width * height;
  const data = dataType === 'uint8' ? new Uint8Array(size * 3) : new Float32Array(size * 3);
  const planar = layout === 'nchw';
  for (let channel = 0; channel < 3; channel += 1) {
    const table = valuesOfChannel(channel, input);
    const source = input.colour_order === 'bgr' ? 2 - channel : channel;
    const start = planar ? channel * size : channel;
    const step = planar ? 1 : 3;
    if (placement.width !== width || placement.height !== height) {
      const padding = table[input.padding_value] ?? 0;
      for (let index = start, left = size; left > 0; left -= 1, index += step) data[index] = padding;
    }
    for (let y = 0; y < image.height; y += 1) {
      let to = start + ((y + placement.top) * width + placement.left) * step;
      let from = y * image.width * 3 + source;
      for (let x = 0; x < image.width; x += 1, to += step, from += 3) {
        data[to] = table[image.data[from] as number] as number;
      }
    }
  }
  return { dataType, shape: planar ? [1, 3, height, width] : [1, height, width, 3], data };
}

function valuesOfChannel(channel: number, { data_type: dataType, mean, std }: TensorInput): Float32Array {
  const table = new Float32Array(256);
  const [offset, divisor] = dataType === 'uint8' ? [0, 1] : [mean[channel] ?? 0, std[channel] ?? 1];
  for (let value = 0; value < 256; value += 1) table[value] = (value - offset) / divisor;
  return table;
}
