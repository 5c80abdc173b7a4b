import { expect, jest, test } from '@jest/globals';
import { fail } from '@vision/contracts/errors';
import type { FrameData } from '@vision/contracts/frame-events';
import { until } from '@vision/shared/testing/until';
import { createFrameMemory } from '../domain/frame-memory.ts';
import type { FrameMemory } from '../domain/frame-memory.ts';
import { createFramePublisher } from './frame-publisher.ts';
import { decodeFrameSegment } from '@vision/contracts/segments/frame-segment';
import type { OutgoingEvent } from '@vision/kafka/cloud-event';
import { createFrameGathering } from '../use-cases/frame-gathering.ts';
import { createHold } from './hold.ts';
import type { DroppedFrames } from '../domain/unsent-frames.ts';

const frame: FrameData = {
  job_id: '018f5c1e-0000-7000-8000-000000000000',
  attempt: 1,
  seq: 0,
  frame_time_ms: 0,
  image: { width: 2, height: 2 },
  objects: [],
};
const MIB = 1024 * 1024;
const limits = { jobBytes: 16 * MIB, workerBytes: 128 * MIB };
/** Memory of frames without objects, as many of a job and of the worker. */
const roomFor = (ofJob: number, ofWorker: number) => {
  const one = createFrameMemory(limits);
  one.open().take(frame);
  return createFrameMemory({ jobBytes: ofJob * one.usedBytes(), workerBytes: ofWorker * one.usedBytes() });
};
const thing: FrameData['objects'][number] = {
  label: 'person',
  score: 0.5,
  bbox: { format: 'cxcywh_normalized', cx: 0.5, cy: 0.5, width: 0.1, height: 0.1 },
  track_id: 'a1-1',
};
const framesOf = (first: number, last: number, objects: FrameData['objects'] = []): FrameData[] =>
  Array.from({ length: last - first + 1 }, (_, index) => ({ ...frame, seq: first + index, objects }));
const numbers = (first: number, last: number) => framesOf(first, last).map(({ seq }) => seq);

/** A job whose broker answers nothing before `recover`. */
function duringOutage(memory: FrameMemory, kind: 'live' | 'file' = 'live') {
  const recovered = Promise.withResolvers<void>();
  const hold = createHold({ untilMs: Infinity, onExpired: () => undefined });
  const published: number[] = [];
  const dropped: number[] = [];
  const ranges: DroppedFrames[] = [];
  const publisher = createFramePublisher({
    producer: { publishBatch: () => recovered.promise },
    partition: 0,
    hold,
    memory,
    drops:
      kind === 'live'
        ? { onDrop: ({ seq }) => dropped.push(seq), onDropsEnd: (range) => ranges.push(range) }
        : undefined,
    onAcknowledged: (frames) => published.push(...frames.map(({ seq }) => seq)),
  });
  return { publisher, hold, published, dropped, ranges, recover: recovered.resolve };
}

/** Keeps the process from doing anything else, as a freeze does. */
const freeze = (ms: number) => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

test('after a freeze that outlasts the hold nothing is published, although no timer has come yet', async () => {
  const hold = createHold({ untilMs: performance.now() + 5, onExpired: () => undefined });
  const publishBatch = jest.fn(() => Promise.resolve());
  const onAcknowledged = () => undefined;
  const memory = createFrameMemory(limits);
  const publisher = createFramePublisher({ producer: { publishBatch }, partition: 0, hold, onAcknowledged, memory });
  freeze(10);
  await publisher.add(frame).catch(() => undefined);
  await expect(publisher.flush()).rejects.toThrow();
  expect(publishBatch).not.toHaveBeenCalled();
  expect(publisher.waiting()).toBe(1);
});

test('a live stream goes on while Kafka takes nothing for 30 seconds, and every frame is published afterwards', async () => {
  const memory = createFrameMemory(limits);
  const { publisher, published, dropped, recover } = duringOutage(memory);
  for (const one of framesOf(
    0,
    899,
    Array.from({ length: 8 }, () => thing),
  ))
    await publisher.add(one);
  expect(memory.usedBytes()).toBeGreaterThan(MIB);
  recover();
  await publisher.flush();
  expect(published).toEqual(numbers(0, 899));
  expect(dropped).toEqual([]);
  expect(memory.usedBytes()).toBe(0);
});

test('the oldest frames of a live stream make room for new ones, and are reported by their numbers', async () => {
  const memory = roomFor(10, 100);
  const { publisher, published, dropped, ranges, recover } = duringOutage(memory);
  for (const one of framesOf(0, 24)) await publisher.add(one);
  // Kafka may have the first one, which was on its way already.
  expect(dropped).toEqual(numbers(1, 15));
  expect(ranges).toEqual([]);
  recover();
  await publisher.flush();
  expect(published).toEqual([0, ...numbers(16, 24)]);
  expect(ranges).toEqual([{ frames: 15, firstSeq: 1, lastSeq: 15 }]);
});

test('all jobs of a worker together use no more than its memory', async () => {
  const memory = roomFor(10, 15);
  const [first, second] = [duringOutage(memory), duringOutage(memory)];
  for (const one of framesOf(0, 9)) await first.publisher.add(one);
  for (const one of framesOf(0, 9)) await second.publisher.add(one);
  expect(first.dropped).toEqual([]);
  expect(second.dropped).toEqual(numbers(1, 5));
  first.recover();
  await first.publisher.flush();
  for (const one of framesOf(10, 14)) await second.publisher.add(one);
  expect(second.dropped).toEqual(numbers(1, 5));
});

test('a job that ends during the outage gives its memory back and reports what it dropped', async () => {
  const memory = roomFor(10, 100);
  const { publisher, hold, ranges } = duringOutage(memory);
  for (const one of framesOf(0, 19)) await publisher.add(one);
  hold.lose();
  publisher.close();
  expect(ranges).toEqual([{ frames: 10, firstSeq: 1, lastSeq: 10 }]);
  expect(memory.usedBytes()).toBe(0);
});

test('a file waits for room and loses no frame', async () => {
  const { publisher, published, recover } = duringOutage(roomFor(10, 100), 'file');
  let added = 0;
  const adding = (async () => {
    for (const one of framesOf(0, 29)) {
      added += 1;
      await publisher.add(one);
    }
  })();
  await new Promise(setImmediate);
  expect(added).toBe(11);
  recover();
  await adding;
  await publisher.flush();
  expect(published).toEqual(numbers(0, 29));
});

/** A job whose frames travel in segments while `readers.areReady`, and what the broker got of it. */
function inSegments(lingerMs: number, untilMs = Infinity) {
  const requests: (FrameData['seq'] | FrameData['seq'][])[][] = [];
  const state = { areReady: true, isAway: false, refused: 0 };
  const published: number[] = [];
  const publishBatch = (events: OutgoingEvent[]) => {
    if (state.isAway) {
      state.refused += 1;
      return Promise.reject(fail.sysUnavailable('kafka_unavailable'));
    }
    requests.push(
      events.map(({ data }) =>
        data instanceof Uint8Array ? decodeFrameSegment(data).frames.map(({ seq }) => seq) : (data as FrameData).seq,
      ),
    );
    return Promise.resolve();
  };
  const hold = createHold({ untilMs, onExpired: () => undefined });
  const gathering = createFrameGathering({ producer: { publishBatch }, isOn: () => state.areReady, lingerMs });
  const publisher = createFramePublisher({
    producer: { publishBatch },
    gathering,
    partition: 0,
    hold,
    memory: createFrameMemory(limits),
    drops: { onDrop: () => undefined, onDropsEnd: () => undefined },
    onAcknowledged: (frames) => published.push(...frames.map(({ seq }) => seq)),
  });
  return { publisher, hold, published, requests, state };
}
const FOREVER_MS = 2 ** 30;

test('frames that come before the departure leave in one segment, and a job that ends does not wait for it', async () => {
  const { publisher, published, requests } = inSegments(FOREVER_MS);
  for (const one of framesOf(0, 2)) await publisher.add(one);
  expect(requests).toEqual([]);
  await publisher.flush();
  expect(requests).toEqual([[[0, 1, 2]]]);
  expect(published).toEqual([0, 1, 2]);
});

test('a flood waits for no departure', async () => {
  const { publisher, published } = inSegments(FOREVER_MS);
  for (const one of framesOf(0, 49)) await publisher.add(one);
  await until(() => published.length === 50);
  expect(publisher.waiting()).toBe(0);
});

test('what waits for the departure when the lease is lost is not published and counted as waiting', async () => {
  const { publisher, hold, requests } = inSegments(FOREVER_MS);
  for (const one of framesOf(0, 2)) await publisher.add(one);
  hold.lose();
  await expect(publisher.flush()).rejects.toThrow();
  expect(requests).toEqual([]);
  expect(publisher.waiting()).toBe(3);
});

test('after a freeze that outlasts the hold no segment is published', async () => {
  const { publisher, requests } = inSegments(FOREVER_MS, performance.now() + 20);
  for (const one of framesOf(0, 2)) await publisher.add(one);
  freeze(30);
  await expect(publisher.flush()).rejects.toThrow();
  expect(requests).toEqual([]);
});

test('during an outage frames are kept, and go out in the form that is read afterwards', async () => {
  const { publisher, published, requests, state } = inSegments(10);
  state.isAway = true;
  for (const one of framesOf(0, 119)) await publisher.add(one);
  await until(() => state.refused > 0);
  expect(publisher.waiting()).toBe(120);
  state.areReady = false;
  state.isAway = false;
  await publisher.flush();
  expect(published).toEqual(numbers(0, 119));
  expect(requests.flat(2)).toEqual(numbers(0, 119));
  expect(requests.flat().every((one) => typeof one === 'number')).toBe(true);
});

test('a frame that is too large for a segment is an event of its own', async () => {
  const { publisher, published, requests } = inSegments(FOREVER_MS);
  const crowd = Array.from({ length: 1_500 }, () => thing);
  for (const one of [...framesOf(0, 0), ...framesOf(1, 1, crowd), ...framesOf(2, 2)]) await publisher.add(one);
  await publisher.flush();
  expect(requests).toEqual([[[0], 1, [2]]]);
  expect(published).toEqual([0, 1, 2]);
});
