import { join } from 'node:path';
import { until } from '@vision/shared/testing/until';
import { startLiveSource } from '../../examples/live-source.ts';
import { Caller, example, examples, form, jpeg, scene } from '../support/system.ts';
import { results } from '../support/video.ts';

/** What another tenant gets of the service: frames a second of its stream, and the median time of its images. */
export interface Service {
  framesPerS: number;
  imageMs: number;
}

/** A tenant with one camera that sends images. */
export interface Neighbour {
  /** @throws Error when an image is refused */
  observe: (forMs: number) => Promise<Service>;
  leave: () => Promise<void>;
}

interface Household {
  caller: Caller;
  taskId: string;
  close: () => void;
}

/** Frames after which the stream of the neighbour runs evenly. */
const RUNNING_FRAMES = 5;
const PAGE = 500;

// Attacks that run at the same time have the same neighbour: each camera more takes its share of the machine.
const shared: { household?: Promise<Household>; users: number } = { users: 0 };

/** Resolves once the stream of the neighbour gives frames. */
export async function joinNeighbour(): Promise<Neighbour> {
  shared.users += 1;
  const household = await (shared.household ??= moveIn());
  let cursor = '';
  const newFrames = async () => {
    let count = 0;
    for (let isMore = true; isMore;) {
      const page = await results(household.caller, household.taskId, `?limit=${PAGE}&cursor=${cursor}`);
      cursor = page.resume_cursor;
      count += page.items.length;
      isMore = page.items.length === PAGE;
    }
    return count;
  };
  return {
    observe: (forMs) => observe(household, newFrames, forMs),
    leave: async () => {
      shared.users -= 1;
      if (shared.users > 0) return;
      delete shared.household;
      await household.caller.stop(household.taskId);
      household.close();
    },
  };
}

async function moveIn(): Promise<Household> {
  const source = await startLiveSource({ video: join(examples, 'street.mp4') });
  const caller = await Caller.create({ images_per_day: 100_000 });
  const created = await caller.createStream({ scene_code: 'person_vehicle', stream_url: source.url });
  if (created.status !== 201) throw new Error(`the neighbour's stream: ${created.text}`);
  const taskId = String(created.body['task_id']);
  await until(async () => (await results(caller, taskId)).items.length >= RUNNING_FRAMES, { timeoutMs: 30_000 });
  return { caller, taskId, close: source.close };
}

async function observe({ caller }: Household, newFrames: () => Promise<number>, forMs: number): Promise<Service> {
  const image = jpeg(await example('street.jpg'));
  await newFrames();
  const from = performance.now();
  const times: number[] = [];
  for (let sentAt = from; sentAt - from < forMs; sentAt = performance.now()) {
    const answer = await caller.detect(form(image, scene('person_vehicle')));
    if (answer.status !== 201) throw new Error(`the neighbour's image: ${answer.text}`);
    times.push(performance.now() - sentAt);
  }
  const seconds = (performance.now() - from) / 1000;
  const sorted = times.toSorted((a, b) => a - b);
  return { framesPerS: (await newFrames()) / seconds, imageMs: sorted[sorted.length >> 1] ?? Infinity };
}
