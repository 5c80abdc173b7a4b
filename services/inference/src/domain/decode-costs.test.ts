import { expect, test } from '@jest/globals';
import { classOf, createDecodeCosts } from './decode-costs.ts';

test('sources are distinguished by their size and codec', () => {
  expect(classOf({ width: 640, height: 480 }, 'h264')).toEqual({ size: 'sd', codec: 'h264' });
  expect(classOf({ width: 720, height: 1280 }, 'hevc')).toEqual({ size: 'hd', codec: 'hevc' });
  expect(classOf({ width: 1920, height: 1080 }, 'mjpeg')).toEqual({ size: 'full_hd', codec: 'other' });
  expect(classOf({ width: 3840, height: 2160 }, undefined)).toEqual({ size: 'larger', codec: 'other' });
});

test('a class costs what was measured of it, and before that what is stated for it', () => {
  const costs = createDecodeCosts();
  const camera = classOf({ width: 1920, height: 1080 }, 'h264');
  expect(costs.coresFor(camera)).toBe(0.11);
  costs.add(camera, 0.2);
  expect(costs.coresFor(camera)).toBe(0.2);
  expect(costs.coresFor(classOf({ width: 1920, height: 1080 }, 'hevc'))).toBeCloseTo(0.1485, 6);
  expect(costs.measured()).toEqual([{ ...camera, cores: 0.2 }]);
});
