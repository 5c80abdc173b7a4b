import { expect, test } from '@jest/globals';
import { createLiveCosts } from './live-costs.ts';
import type { PassedOver } from './live-costs.ts';

const SIZE = { width: 1280, height: 720 };

/** Two cores, 5 frames a second, detections of 40 ms; the test sets the time of decoders. */
function world(detectMs = 40, heavyCores = 0.6) {
  let nowMs = 0;
  const decoders = new Map<number, number>();
  const waits = new Map<number, number>();
  const behind: string[] = [];
  const lowered: string[] = [];
  const costs = createLiveCosts({
    cores: 2,
    fps: 5,
    decoderTimes: () => new Map(decoders),
    decoderWaits: () => new Map(waits),
    heavyCores,
    lowerDecoder: (group) => void lowered.push(`group ${group}`),
    expectedDetectMs: () => detectMs,
    now: () => nowMs,
  });
  const watch = (group: number) => {
    const stream = {
      detectMs: () => detectMs,
      onBehind: (isBehind: boolean) => void behind.push(`${group} ${isBehind ? 'behind' : 'full'}`),
      onLowered: (cores: number) => void lowered.push(`stream of ${group}, ${cores} cores`),
    };
    const meter = costs.watch(stream);
    decoders.set(group, 0);
    meter.decoder.started([group]);
    meter.decoder.sees({ codec: 'h264', ...SIZE });
    return meter;
  };
  /** Advances five seconds, in which each decoder takes this share of a core. */
  const pass = (decodeCores = 0) => {
    nowMs += 5000;
    for (const [group, spentMs] of decoders) decoders.set(group, spentMs + 5000 * decodeCores);
    costs.measure();
  };
  /** Adds to the time for which the decoder has waited for a processor. */
  const starve = (group: number, waitedMs: number) => void waits.set(group, (waits.get(group) ?? 0) + waitedMs);
  const passOften = (decodeCores: number) => {
    for (let round = 0; round < 20; round += 1) pass(decodeCores);
  };
  return { costs, watch, pass, passOften, starve, behind, lowered };
}

test('before the first stream, slots follow from the detection time measured at the start', () => {
  // (5 × 40 ms + 6 % for decoding) a stream, 70 % of two cores.
  expect(world(40).costs.places()).toBe(5);
  expect(world(80).costs.places()).toBe(3);
});

test('streams that are cheaper to decode than expected leave slots for more', () => {
  const { costs, watch, passOften } = world();
  watch(1);
  passOften(0.01);
  expect(costs.costOfOne()).toBeCloseTo(0.21, 2);
  expect(costs.places()).toBe(6);
});

test('streams that are expensive to decode reduce the number of slots', () => {
  const { costs, watch, passOften } = world();
  watch(1);
  watch(2);
  passOften(0.4);
  // Each takes 0.6 of the 1.4 cores, so there is no third.
  expect(costs.places()).toBe(2);
});

test('a stream without measurements is assumed to cost as much as others of its size and codec', () => {
  const { costs, watch, passOften } = world();
  const first = watch(1);
  first.decoder.sees({ codec: 'hevc', width: 1920, height: 1080 });
  passOften(0.5);
  watch(2);
  expect(costs.decoding()).toEqual([{ size: 'full_hd', codec: 'hevc', cores: 0.5 }]);
  // 0.7 of 1.4 cores for the first, 0.26 for one of 720p; the rest is enough for a third like the second.
  expect(costs.places()).toBe(3);
  watch(3).decoder.sees({ codec: 'hevc', width: 1920, height: 1080 });
  expect(costs.places()).toBe(3);
});

test('running streams keep their slots when together they cost too much', () => {
  const { costs, watch, passOften } = world();
  [1, 2, 3, 4].forEach(watch);
  passOften(0.5);
  expect(costs.places()).toBe(4);
});

test('even a slow worker has a slot for one stream', () => {
  expect(world(5000).costs.places()).toBe(1);
});

test('the cost of ended streams counts for later ones', () => {
  const { costs, watch, passOften } = world();
  const meters = [1, 2].map(watch);
  passOften(0.5);
  meters.forEach((meter) => meter.end());
  expect(costs.places()).toBe(2);
});

test('one expensive stream, running or ended, leaves the slots of others', () => {
  const { costs, watch, pass } = world();
  const meter = watch(1);
  for (let round = 0; round < 20; round += 1) pass(3);
  // Its decoder yields to others above 0.6 cores: 0.8 of 1.4 are taken, and each other stream needs 0.26.
  expect(costs.places()).toBe(3);
  meter.end();
  expect(costs.places()).toBe(5);
});

test('a decoder that ended and is not yet replaced changes no cost', () => {
  const { costs, watch, passOften } = world();
  const meters = [1, 2].map(watch);
  passOften(0.1);
  meters.forEach((meter) => meter.decoder.started([77]));
  passOften(0.5);
  expect(costs.costOfOne()).toBeCloseTo(0.3, 2);
});

test('a stream that gets less than nine of ten frames is below its frame rate until it gets them again', () => {
  const { costs, watch, pass, behind } = world();
  const slow = watch(1);
  const well = watch(2);
  const frames = (passedOver: number) => {
    for (let frame = 0; frame < 25; frame += 1) {
      slow.frameTaken({ waited: passedOver, atOnce: 0 });
      well.frameTaken({ waited: 0, atOnce: 0 });
    }
    pass();
  };
  frames(1);
  expect(costs.rates()).toEqual({ full: 1, behind: 1 });
  frames(1);
  frames(0);
  expect(costs.rates()).toEqual({ full: 2, behind: 0 });
  expect(behind).toEqual(['1 behind', '1 full']);
});

/** Five seconds of frames: each taken frame passed over this number of others. */
const deliver = (meter: { frameTaken: (passedOver: PassedOver) => void }, frames: number, passedOver: PassedOver) => {
  for (let frame = 0; frame < frames; frame += 1) meter.frameTaken(passedOver);
};

test('a source that sends in bursts is not below its frame rate, and leaves the slots of others', () => {
  const { costs, watch, pass, behind } = world();
  const bursts = watch(1);
  pass();
  for (let round = 0; round < 5; round += 1) {
    deliver(bursts, 2, { waited: 0, atOnce: 12 });
    pass();
  }
  expect(behind).toEqual([]);
  expect(costs.places()).toBeGreaterThan(1);
});

test('a stream whose decoder waits for a processor and sends bursts is below its frame rate', () => {
  const { watch, pass, starve, behind } = world();
  const meter = watch(1);
  starve(1, 0);
  pass();
  deliver(meter, 5, { waited: 0, atOnce: 4 });
  starve(1, 2500);
  pass();
  expect(behind).toEqual(['1 behind']);
});

test('one stream below its frame rate takes no slots from others, a majority of such streams does', () => {
  const { costs, watch, pass } = world(10);
  const meters = [1, 2, 3].map(watch);
  const late = (count: number) => {
    meters.forEach((meter, index) => deliver(meter, 25, { waited: index < count ? 1 : 0, atOnce: 0 }));
    pass();
  };
  late(1);
  expect(costs.places()).toBeGreaterThan(3);
  late(2);
  expect(costs.places()).toBe(3);
  late(0);
  expect(costs.places()).toBeGreaterThan(3);
});

test('a heavy decoder is lowered at each measurement, and the next one of its stream at once', () => {
  const { watch, pass, lowered } = world();
  watch(1);
  const heavy = watch(2);
  pass(0.6);
  expect(lowered).toEqual([]);
  pass(0.9);
  expect(lowered.splice(0)).toEqual(['group 1', 'stream of 1, 0.9 cores', 'group 2', 'stream of 2, 0.9 cores']);
  pass(0.9);
  expect(lowered.splice(0)).toEqual(['group 1', 'group 2']);
  heavy.decoder.started([3, 77]);
  expect(lowered.splice(0)).toEqual(['group 77']);
  pass(0.1);
  heavy.decoder.started([3, 78]);
  expect(lowered).toEqual(['group 78']);
});

test('streams that wait because their decoders were lowered take no slots from others', () => {
  const { costs, watch, pass, starve } = world(10, 0.1);
  const meters = [1, 2, 3].map(watch);
  [1, 2, 3].forEach((group) => starve(group, 0));
  pass(0.9);
  meters.forEach((meter) => deliver(meter, 5, { waited: 0, atOnce: 4 }));
  [1, 2, 3].forEach((group) => starve(group, 2500));
  pass(0.9);
  expect(costs.rates()).toEqual({ full: 0, behind: 3 });
  expect(costs.places()).toBeGreaterThan(3);
});

test('a source without frames is not below its frame rate', () => {
  const { costs, watch, pass } = world();
  watch(1).frameTaken({ waited: 1, atOnce: 0 });
  pass();
  expect(costs.rates()).toEqual({ full: 1, behind: 0 });
});
