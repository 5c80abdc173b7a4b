import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createTracker } from '../services/inference/src/tracking/tracker.ts';
import { median } from './figures.ts';
import type { Figure } from './figures.ts';
import { crowd } from './tracking/hostile-crowd.ts';
import { score } from './tracking/metrics.ts';
import type { Scores } from './tracking/metrics.ts';
import { askPeers } from './tracking/peers.ts';
import type { Followed } from './tracking/peers.ts';
import { perfectlyFollowed } from './tracking/perfect.ts';
import type { Compared, Sequence } from './tracking/sequence.ts';
import { detected, simulated } from './tracking/sources.ts';
import { accuracyTable } from './tracking/table.ts';
import { onceConfirmed, withEveryBox } from './tracking/what-is-shown.ts';

export const name = 'tracking';

/** Boxes below it are not compared: what a detector is that unsure of is mostly wrong. */
const SHOWN_FROM = 0.5;

type MakeTracker = typeof createTracker;

/**
 * How well objects keep their `track_id`, beside trackers that others wrote, on the same detections; time for a frame.
 *
 * `TRACKER_BEFORE` names the `tracker.ts` of another checkout and adds its column. `TRACKING_HALF=fit` shows the half
 * on which constants are chosen. `TRACKING_DETECTOR=no` leaves out what the embedded detector has to look at.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  const half = process.env['TRACKING_HALF'] === 'fit' ? 'fit' : 'report';
  const sequences = simulated(half);
  if (process.env['TRACKING_DETECTOR'] !== 'no') sequences.push(...(await detected(half)));
  const makers = new Map<string, MakeTracker>([['ours', createTracker]]);
  const before = process.env['TRACKER_BEFORE'];
  if (before !== undefined) makers.set('before', await otherTracker(before));

  const followed = new Map<string, Followed>();
  for (const [tracker, make] of makers)
    followed.set(
      tracker,
      sequences.map((sequence) => follow(make, sequence)),
    );
  const everyBox = followed.get('ours') ?? [];
  followed.set('perfect', perfectlyFollowed(sequences));
  followed.set('ours, held back', onceConfirmed(everyBox));
  const ours = comparisons(sequences, everyBox);
  const peers = await askPeers(sequences, ours);
  if (typeof peers === 'string') process.stdout.write(`  trackers of PyPI were not run: ${peers}\n`);
  else {
    for (const [tracker, boxes] of peers.followed) {
      followed.set(tracker, withEveryBox(sequences, boxes));
      followed.set(`${tracker}, held back`, boxes);
    }
  }

  const rows = [...followed].map(([tracker, boxes]) => ({ tracker, sources: meansBySource(sequences, boxes) }));
  await mkdir(join(import.meta.dirname, 'results'), { recursive: true });
  const file = join(import.meta.dirname, `results/tracking-${half}.md`);
  await writeFile(file, accuracyTable(rows));
  process.stdout.write(`  per source: ${file}\n`);
  return {
    figures: [
      ...rows.flatMap(({ tracker, sources }) => accuracy(tracker, sources)),
      ...(typeof peers === 'string' ? [] : [disagreement(ours.map(score), peers.judged)]),
      ...speed(makers),
    ],
  };
}

/** Our metrics beside those of py-motmetrics (MOTA, IDF1, switches) and of the package trackers (HOTA). */
function disagreement(ours: Scores[], theirs: Scores[]): Figure {
  const differences = ours.flatMap((scores, index) => {
    const other = theirs[index];
    if (!other) throw new Error('metrics of others are missing');
    return (['mota', 'idf1', 'hota', 'switches'] as const).map((key) => Math.abs(scores[key] - other[key]));
  });
  return {
    name: 'metrics beside those of others, greatest difference',
    value: Math.max(...differences),
    unit: 'points',
  };
}

async function otherTracker(path: string): Promise<MakeTracker> {
  const module = (await import(pathToFileURL(path).href)) as { createTracker: MakeTracker };
  return module.createTracker;
}

function follow(make: MakeTracker, { frames, aspect }: Sequence): Followed[number] {
  const tracker = make('a1');
  return frames.map(({ timeMs, found }) =>
    tracker.update(timeMs, found, aspect).map(({ track_id: id, bbox, score }) => ({ id, bbox, score })),
  );
}

function comparisons(sequences: Sequence[], followed: Followed): Compared[][] {
  return sequences.map(({ frames }, index) =>
    frames.map(({ truth }, frame) => ({
      truth,
      shown: (followed[index]?.[frame] ?? []).filter((box) => box.score >= SHOWN_FROM),
    })),
  );
}

/** Every source counts alike, however many sequences it has. */
function meansBySource(sequences: Sequence[], followed: Followed): Map<string, Scores> {
  const bySource = new Map<string, Scores[]>();
  comparisons(sequences, followed).forEach((compared, index) => {
    const source = sequences[index]?.source ?? '';
    bySource.set(source, [...(bySource.get(source) ?? []), score(compared)]);
  });
  return new Map([...bySource].map(([source, scores]) => [source, meanScores(scores)]));
}

function meanScores(scores: Scores[]): Scores {
  const mean = (value: (one: Scores) => number) =>
    scores.reduce((total, one) => total + value(one), 0) / Math.max(1, scores.length);
  return {
    mota: mean((one) => one.mota),
    idf1: mean((one) => one.idf1),
    hota: mean((one) => one.hota),
    switches: mean((one) => one.switches),
  };
}

function accuracy(tracker: string, sources: Map<string, Scores>): Figure[] {
  const { mota, idf1, hota, switches } = meanScores([...sources.values()]);
  return [
    { name: `${tracker}: IDF1, mean of sources`, value: idf1, unit: '%' },
    { name: `${tracker}: MOTA, mean of sources`, value: mota, unit: '%' },
    { name: `${tracker}: HOTA, mean of sources`, value: hota, unit: '%' },
    { name: `${tracker}: identity switches in a sequence`, value: switches, unit: '' },
  ];
}

/** Each tracker in turn on the same frames, so that the load of the machine cancels out. */
function speed(makers: Map<string, MakeTracker>): Figure[] {
  return (['walking', 'jumping'] as const).flatMap((kind) => {
    const frames = crowd(kind);
    const samples = new Map([...makers.keys()].map((tracker): [string, number[]] => [tracker, []]));
    const trackers = [...makers].map(([tracker, make]) => [tracker, make('a1')] as const);
    frames.forEach((found, frame) => {
      for (const [tracker, { update }] of trackers) {
        const started = performance.now();
        update(frame * 200, found, 4 / 3);
        samples.get(tracker)?.push(performance.now() - started);
      }
    });
    return [...samples].flatMap(([tracker, times]) => [
      { name: `${tracker}: a frame with 100 ${kind} objects, p50`, value: median(times), unit: 'ms' },
      { name: `${tracker}: the slowest of ${times.length}`, value: Math.max(...times), unit: 'ms' },
    ]);
  });
}
