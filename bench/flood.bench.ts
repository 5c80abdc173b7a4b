import { Caller, example, form, scene } from '../test/support/system.ts';
import { expensivePictures } from './expensive-pictures.ts';
import { quantile, timed } from './figures.ts';
import type { Figure } from './figures.ts';

export const name = 'flood';

const WARM_UP = 30;
/** Phases without and with the flood take turns, so that other work on the machine falls on both. */
const ROUNDS = 2;
const SAMPLES_A_ROUND = 50;
/** As many calls at once as the limits of a subject allow, each as full as it may be. */
const CALLS = 20;
const PICTURES = 10;
const FLOOD_FIRST_MS = 4_000;

interface Picture {
  bytes: Uint8Array<ArrayBuffer>;
  type: string;
}

/**
 * What one tenant's flood of pictures does to the single pictures of another: the 95th percentile under the flood over
 * that without one, in the same run. A tenant that is refused for the processor time it took is followed by a new one,
 * so the flood never ends.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  const honest = await tenant();
  const street = { bytes: new Uint8Array(await example('street.jpg')), type: 'image/jpeg' };
  for (let index = 0; index < WARM_UP; index += 1) await detect(honest, [street]);
  const floods = [{ name: 'ordinary pictures', ...street }, ...(await expensivePictures())];
  const figures: Figure[] = [];
  for (const flood of floods) {
    const alone: number[] = [];
    const flooded: number[] = [];
    let calls = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      alone.push(...(await phase(`${flood.name}, round ${round + 1}: alone`, () => samples(honest, street))));
      const flooding = await during(flood, () =>
        phase(`${flood.name}, round ${round + 1}: under the flood`, () => samples(honest, street)),
      );
      flooded.push(...flooding.value);
      calls += flooding.calls;
    }
    const p95 = { alone: quantile(alone, 0.95), flooded: quantile(flooded, 0.95) };
    figures.push(
      {
        name: `${flood.name}: p95 under the flood over p95 alone`,
        value: p95.flooded / p95.alone,
        unit: 'ratio',
        target: '≤ 3',
      },
      { name: `${flood.name}: p95 alone`, value: p95.alone, unit: 'ms' },
      { name: `${flood.name}: calls of the flood`, value: calls, unit: 'answered' },
    );
  }
  return { figures };
}

const tenant = () => Caller.create({ images_per_day: 1_000_000, image_calls: CALLS });

/** Prints a phase as it ends: a run takes long, and one that is broken off has then shown something. */
async function phase(what: string, work: () => Promise<number[]>): Promise<number[]> {
  const taken = await work();
  const [p50, p95] = [quantile(taken, 0.5), quantile(taken, 0.95)].map((ms) => ms.toFixed(0));
  process.stdout.write(`  ${what}: p50 ${p50} ms, p95 ${p95} ms\n`);
  return taken;
}

async function samples(caller: Caller, picture: Picture): Promise<number[]> {
  const taken: number[] = [];
  for (let index = 0; index < SAMPLES_A_ROUND; index += 1) taken.push(await timed(() => detect(caller, [picture])));
  return taken;
}

async function during<T>(picture: Picture, work: () => Promise<T>): Promise<{ value: T; calls: number }> {
  let isOver = false;
  let calls = 0;
  let attacker = await tenant();
  const flood = async () => {
    while (!isOver) {
      const current = attacker;
      const status = await send(
        current,
        Array.from({ length: PICTURES }, () => picture),
      );
      calls += 1;
      if (status === 429 && current === attacker) attacker = await tenant();
    }
  };
  const floods = Array.from({ length: CALLS }, () => flood());
  await new Promise((resolve) => setTimeout(resolve, FLOOD_FIRST_MS));
  try {
    return { value: await work(), calls };
  } finally {
    isOver = true;
    await Promise.all(floods);
  }
}

async function detect(caller: Caller, pictures: Picture[]): Promise<void> {
  const status = await send(caller, pictures);
  if (status !== 201) throw new Error(`image call: ${status}`);
}

async function send(caller: Caller, pictures: Picture[]): Promise<number> {
  const files = pictures.map(({ bytes, type }, index) => ({ name: 'files', value: bytes, type, filename: `${index}` }));
  return (await caller.detect(form(scene('person_vehicle'), ...files))).status;
}
