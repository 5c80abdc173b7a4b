import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '@vision/shared/testing/until';
import { jobWorld, serveVideo } from '../../services/inference/test/support/job-service.ts';
import type { JobWorld } from '../../services/inference/test/support/job-service.ts';
import { HOSTILE_STREAMS } from '../../test/support/hostile-streams/flood-bytes.ts';
import { hostileStream } from '../../test/support/hostile-streams/hostile-stream.ts';
import { atLeast, atMost, median, quantile, timed } from '../figures.ts';
import type { Figure } from '../figures.ts';
import { hostileBuild } from './hostile-build.ts';

const root = join(import.meta.dirname, '../..');
const NEIGHBOURS = 2;
/** Frames of the hostile stream that show that it plays, before it turns. */
const PLAYED_FRAMES = 3;
const WINDOW_MS = 15_000;
const REST_MS = 3_000;
/** Time from the turn to the window: a decoder that takes too much has its lower priority after ten seconds. */
const LATER_MS = 1000 * Number(process.env['FLOOD_LATER_S'] ?? 0);

type Worker = Awaited<ReturnType<JobWorld['spawn']>>;

/** Frames a second of the neighbours' jobs, and how long single images took. */
interface Sample {
  rate: number;
  images: number[];
}

/**
 * What streams that play and then turn hostile do to other jobs and images of their worker, whose readers check no
 * bounds: what is left is the process around each reader. Their senders run at nice 19, and their processor time is
 * shown.
 */
export async function streamFloods(wanted = ''): Promise<Figure[]> {
  const names = HOSTILE_STREAMS.filter((name) => name.includes(wanted));
  if (names.length === 0) return [];
  const build = hostileBuild();
  process.stdout.write(`  ${build.removed} bounds of readers were taken out\n`);
  const world = await jobWorld();
  const models = join(root, 'services/inference/models');
  const scenes = join(root, 'config/scenes.json');
  const worker = await world.spawn({ DETECT_THREADS: '2', MODELS_DIR: models, SCENES_FILE: scenes }, build.folder);
  const camera = await serveVideo(join(root, 'examples/street.mp4'));
  try {
    const neighbours = await Promise.all(Array.from({ length: NEIGHBOURS }, () => submit(worker, camera.url)));
    const lookAt = await observer(world, worker, neighbours);
    return await compare(names, { world, worker, lookAt });
  } finally {
    worker.kill();
    camera.close();
    await world.close();
    build.delete();
  }
}

async function compare(
  names: readonly string[],
  { world, worker, lookAt }: { world: JobWorld; worker: Worker; lookAt: () => Promise<Sample> },
): Promise<Figure[]> {
  const figures: Figure[] = [];
  let before = await shown('quiet streams', await lookAt());
  for (const name of names) {
    const stream = await hostileStream(name);
    const job = await submit(worker, stream.url);
    await plays(world, worker, job);
    const first = await stream.turn();
    await pause(LATER_MS);
    const flooded = await shown(name, await lookAt());
    const last = await stream.cost();
    const [cpuMs, mb] = [last.cpuMs - first.cpuMs, (last.floodBytes - first.floodBytes) / 1e6];
    process.stdout.write(`    the sender: ${cpuMs.toFixed(0)} ms of a processor, ${mb.toFixed(0)} MB taken\n`);
    await worker.stop(job);
    stream.close();
    await worker.ended(job);
    await pause(REST_MS);
    const after = await shown('quiet streams', await lookAt());
    figures.push(
      ...figuresOf(name, flooded, [before, after]),
      { name: `${name}: processor time of the sender`, value: cpuMs, unit: 'ms' },
      { name: `${name}: taken from the sender`, value: mb, unit: 'MB' },
    );
    before = after;
  }
  return figures;
}

/** Beside the quiet phases right before and behind: other work on the machine falls on all three. */
function figuresOf(name: string, flooded: Sample, quiet: Sample[]): Figure[] {
  const rate = quiet.reduce((sum, sample) => sum + sample.rate, 0) / quiet.length;
  const p95 = quantile(
    quiet.flatMap(({ images }) => images),
    0.95,
  );
  const slower = quantile(flooded.images, 0.95) / p95;
  return [
    {
      name: `${name}: frames of others over those without`,
      value: flooded.rate / rate,
      unit: 'ratio',
      target: atLeast(0.9),
    },
    {
      name: `${name}: p95 of images over that without`,
      value: slower,
      unit: 'ratio',
      target: atMost(2),
    },
  ];
}

/** @throws when the stream fails before it was seen to play: then nothing is shown by what follows */
async function plays(world: JobWorld, worker: Worker, job: string): Promise<void> {
  const { status, error } = await until(async () => {
    const read = await worker.read(job);
    return read.status === 'failed' || world.messages(job).length >= PLAYED_FRAMES ? read : undefined;
  });
  if (status === 'failed') throw new Error(`the hostile stream did not play: ${error}`);
}

async function submit(worker: Worker, url: string): Promise<string> {
  const job = {
    job_id: randomUUID(),
    scene_code: 'person_vehicle',
    lower_bound: 0.3,
    source: { kind: 'stream', url, pinned_address: '127.0.0.1' },
  };
  await until(async () => (await worker.submit(job)).status === 201);
  return job.job_id;
}

/** Counts frames of the neighbours for a while and sends one image after the other meanwhile. */
async function observer(world: JobWorld, { port }: Worker, neighbours: string[]): Promise<() => Promise<Sample>> {
  const image = await readFile(join(root, 'examples/street.jpg'));
  const detect = async () => {
    const { status } = await fetch(`http://127.0.0.1:${port}/v1/detect?scene_code=person_vehicle`, {
      method: 'POST',
      headers: { 'content-type': 'image/jpeg' },
      body: image,
    });
    if (status !== 200) throw new Error(`an image: ${status}`);
  };
  const frames = () => neighbours.reduce((sum, id) => sum + world.messages(id).length, 0);
  await until(() => neighbours.every((id) => world.messages(id).length > 10));
  for (let count = 0; count < 10; count += 1) await detect();
  return async () => {
    const [from, before] = [performance.now(), frames()];
    const images: number[] = [];
    while (performance.now() - from < WINDOW_MS) {
      images.push(await timed(detect));
      await pause(100);
    }
    return { rate: ((frames() - before) * 1000) / (performance.now() - from), images };
  };
}

async function shown(what: string, sample: Sample): Promise<Sample> {
  const [p50, p95] = [median(sample.images), quantile(sample.images, 0.95)].map((ms) => ms.toFixed(0));
  process.stdout.write(`  ${what}: ${sample.rate.toFixed(1)} frames/s, images p50 ${p50} ms, p95 ${p95} ms\n`);
  return sample;
}
