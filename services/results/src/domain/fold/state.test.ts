import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decodeFacts, decodeState, encodeFacts, encodeState } from './codec.ts';
import { decodeMinutes, decodeTotals, secondsOf } from './hour-codec.ts';
import type { HourSeconds, PackedHour } from './hour-codec.ts';
import { countTrack, mergeHour, takeDueMinutes } from './hours.ts';
import { hourOf, MINUTE_MS } from './minutes.ts';
import type { Minute } from './minutes.ts';
import { paceOf } from './pace.ts';
import { attemptsOf, emptyState, foldFrames } from './state.ts';
import type { FoldedFrame, FoldState } from './state.ts';
import { mergeTracks } from './tracks.ts';
import type { ObjectView, TrackFacts } from './tracks.ts';

/** A frame of a task whose frames have these times; positions are in the order of storing. */
interface Stored {
  seq: number;
  timeMs: number;
  position: number;
  objects: ObjectView[];
}

const object: fc.Arbitrary<ObjectView> = fc.record({
  label: fc.constantFrom('person', 'car', '__proto__', 'a\u0000b'),
  trackId: fc.constantFrom('a1-1', 'a1-2', 'a2-1', 'other', 'not/addressable'),
  score: fc.integer({ min: 0, max: 1_000_000 }),
  cx: fc.constantFrom(0, 0.5, 1 / 3, 1),
  cy: fc.constantFrom(0.25, 5e-324),
  width: fc.constantFrom(0.1, 0.2),
  height: fc.constantFrom(0.1, 0),
});

const frames: fc.Arbitrary<Stored[]> = fc
  .array(
    fc.record({
      stepMs: fc.constantFrom(40, 200, 2_999, 70_000, 4_000_000),
      objects: fc.array(object, { maxLength: 4 }),
    }),
    {
      minLength: 1,
      maxLength: 30,
    },
  )
  .map((steps) => {
    let timeMs = -100_000;
    return steps.map(({ stepMs, objects }, seq) => {
      timeMs += stepMs;
      // One object of a track in a frame.
      const own = objects.filter((one, at) => objects.findIndex(({ trackId }) => trackId === one.trackId) === at);
      return { seq, timeMs, position: seq + 1, objects: own };
    });
  });

const opened = ({ objects, ...frame }: Stored): FoldedFrame => ({
  ...frame,
  eachObject: (take) => {
    for (const one of objects) take({ ...one });
  },
});

/** Rows and state as the service stores them, in memory. */
class Store {
  state: FoldState = emptyState();
  readonly tracks = new Map<string, TrackFacts>();
  readonly hours = new Map<number, PackedHour>();

  /** Same steps as one transaction of `fold-task.ts`. */
  fold(portion: Stored[]): void {
    const state = decodeState(encodeState(this.state));
    foldFrames(state, portion.map(opened), paceOf(undefined));
    for (const part of state.ended.values()) {
      const before = this.tracks.get(part.trackId);
      const track = before ? mergeTracks(before, part) : part;
      countTrack(state.minutes, track, before);
      this.tracks.set(track.trackId, { ...track, ...decodeFacts(encodeFacts(track)) });
    }
    for (const [hourMs, minutes] of takeDueMinutes(state))
      this.hours.set(hourMs, mergeHour(hourMs, this.hours.get(hourMs), minutes));
    this.state = { ...state, ended: new Map() };
  }

  /** Everything that readers merge, without the order of changes. */
  view() {
    const state = decodeState(encodeState(this.state));
    const tracks = new Map(this.tracks);
    for (const part of state.open.values()) {
      const before = tracks.get(part.trackId);
      const track = before ? mergeTracks(before, part) : part;
      countTrack(state.minutes, track, before);
      tracks.set(track.trackId, track);
    }
    const hours = new Map(this.hours);
    const rest = new Map<number, Map<number, Minute>>();
    for (const [start, minute] of state.minutes)
      rest.set(hourOf(start), (rest.get(hourOf(start)) ?? new Map<number, Minute>()).set(start, minute));
    for (const [hourMs, minutes] of rest) hours.set(hourMs, mergeHour(hourMs, hours.get(hourMs), minutes));
    return {
      newestMs: state.newestMs,
      attempts: sorted(attemptsOf(state)),
      tracks: sorted(new Map([...tracks].map(([id, { changed: _, ...facts }]) => [id, facts]))),
      hours: sorted(
        new Map(
          [...hours].map(([hourMs, hour]) => [
            hourMs,
            {
              minutes: plain(decodeMinutes(hour)),
              totals: plainLabels(decodeTotals(hour).labels),
              seconds: plainSeconds(decodeTotals(hour).seconds),
            },
          ]),
        ),
      ),
      secondsOfMinutes: sorted(
        new Map([...hours].map(([hourMs, hour]) => [hourMs, plainSeconds(secondsOf(decodeMinutes(hour)))])),
      ),
    };
  }
}

const sorted = <K extends string | number, V>(map: ReadonlyMap<K, V>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));
const plain = (minutes: Map<number, Minute>) =>
  sorted(
    new Map([...minutes].map(([start, { labels, ...rest }]) => [start, { ...rest, labels: plainLabels(labels) }])),
  );
const plainSeconds = (seconds: HourSeconds | undefined) =>
  seconds && {
    frames: seconds.frames,
    seconds: [...seconds.runs].flatMap(({ fromMs, toMs }) =>
      Array.from({ length: (toMs - fromMs) / 1000 }, (_, at) => fromMs + 1000 * at),
    ),
  };
const plainLabels = (labels: Minute['labels']) =>
  sorted(
    new Map(
      [...labels]
        .map(([label, counts]) => [label, [...counts]] as const)
        .filter(([, counts]) => counts.some((count) => count !== 0)),
    ),
  );

const viewOf = (portions: Stored[][]) => {
  const store = new Store();
  for (const portion of portions) store.fold(portion);
  return store.view();
};

test('tracks, minutes and attempts do not depend on how frames are split and ordered', () => {
  fc.assert(
    fc.property(frames, fc.infiniteStream(fc.nat()), fc.infiniteStream(fc.boolean()), (all, keys, cuts) => {
      const inAnyOrder = all
        .map((frame) => ({ frame, key: Number(keys.next().value) }))
        .sort((a, b) => a.key - b.key)
        .map(({ frame }, index) => ({ ...frame, position: index + 1 }));
      const portions: Stored[][] = [[]];
      for (const frame of inAnyOrder) {
        if (cuts.next().value) portions.push([]);
        portions.at(-1)?.push(frame);
      }
      const view = viewOf(portions);
      expect(view).toEqual(viewOf([all]));
      expect(view.hours.map(([hourMs, { seconds }]) => [hourMs, seconds])).toEqual(view.secondsOfMinutes);
    }),
  );
});

test('the order of changes does not depend on how frames are split', () => {
  fc.assert(
    fc.property(frames, fc.infiniteStream(fc.boolean()), (all, cuts) => {
      const [whole, split] = [new Store(), new Store()];
      whole.fold(all);
      let portion: Stored[] = [];
      for (const frame of all) {
        portion.push(frame);
        if (!cuts.next().value) continue;
        split.fold(portion);
        portion = [];
      }
      split.fold(portion);
      const changes = (store: Store) =>
        sorted(new Map([...store.tracks, ...store.state.open].map(([id, { changed }]) => [id, changed])));
      expect(changes(split)).toEqual(changes(whole));
    }),
  );
});

test('a track sums up its objects', () => {
  const person = { label: 'person', trackId: 'a1-7', cx: 0.5, cy: 0.5, width: 0.1, height: 0.2 };
  const store = new Store();
  const scores = [400_000, 900_000, 900_000, 500_000];
  store.fold(
    scores.map((score, seq) => ({
      seq,
      timeMs: 200 * seq,
      position: seq + 1,
      objects: [{ ...person, score, width: 0.1 + seq / 100 }],
    })),
  );
  expect(store.state.open.get('a1-7')).toMatchObject({
    frames: 4,
    scoreSum: 2_700_000,
    first: { seq: 0, timeMs: 0 },
    last: { seq: 3, timeMs: 600 },
    best: { seq: 2, score: 900_000 },
  });
});

test('minutes leave the state when they are older than ten minutes', () => {
  const store = new Store();
  const at = (minute: number) => ({ seq: minute, timeMs: minute * MINUTE_MS, position: minute + 1, objects: [] });
  store.fold([at(0), at(1), at(9)]);
  expect(store.hours.size).toBe(0);
  store.fold([at(11)]);
  expect([...store.hours.keys()]).toEqual([0]);
  expect([...store.state.minutes.keys()]).toEqual([11 * MINUTE_MS]);
});
