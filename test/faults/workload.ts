import { randomUUID } from 'node:crypto';
import { Caller, form, scene } from '../support/system.ts';
import type { Answer } from '../support/system.ts';
import { pick } from './random.ts';
import type { World } from './world.ts';

export type Kind = 'stream' | 'upload' | 'images';

/** What a client knows of one create: every answer it got for the key, in order. `undefined` = no answer came. */
export interface Create {
  kind: Kind;
  key: string;
  caller: Caller;
  answers: (Answer | undefined)[];
  images: number;
}

export interface Workload {
  creates: Create[];
  /** Answers that no client may ever see: 500, or a 5xx for what the client did wrong. */
  offences: string[];
  /** One operation by one of the callers. */
  act: () => Promise<void>;
  /** Sends a create once more, with the same key and meaning. */
  repeat: (create: Create) => Promise<Answer | undefined>;
}

const mp4 = Buffer.concat([
  Buffer.from([0, 0, 0, 24]),
  Buffer.from('ftypisom\0\0\0\0isommp42'),
  Buffer.alloc(200_000, 7),
]);
const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(50_000, 3)]);

/** Seeded clients of the public API: creates of every kind, repeats, reads and stops. */
export async function createWorkload(world: World, random: () => number): Promise<Workload> {
  // A refusal for want of quota would tell nothing about faults, however long the run.
  const limits = {
    video_tasks_per_day: 100_000,
    images_per_day: 100_000,
    active_tasks: 10_000,
    image_calls: 1000,
    video_uploads: 1000,
    requests_per_second: 1000,
    burst: 2000,
  };
  const callers = await Promise.all([1, 2, 3].map(() => Caller.create(limits)));
  const workload: Workload = {
    creates: [],
    offences: [],
    act: async () => {
      const roll = random();
      if (roll < 0.45 || workload.creates.length === 0) await create();
      else if (roll < 0.65) await workload.repeat(pick(random, workload.creates));
      else await useTask(pick(random, workload.creates));
    },
    repeat: async (known) => {
      const answer = await attempt(() => send(world, known));
      known.answers.push(answer);
      return answer;
    },
  };

  async function create(): Promise<void> {
    const made: Create = {
      kind: pick(random, ['stream', 'upload', 'images', 'images'] as const),
      key: randomUUID(),
      caller: pick(random, callers),
      answers: [],
      images: 1 + Math.floor(random() * 4),
    };
    workload.creates.push(made);
    await workload.repeat(made);
  }

  async function useTask({ answers, caller, kind }: Create): Promise<void> {
    const id = answers.findLast((answer) => answer && answer.status < 300)?.body['task_id'];
    if (typeof id !== 'string') return;
    const path = `/v1/vision/tasks/${id}`;
    if (kind === 'images' || random() < 0.4) await attempt(() => caller.get(path));
    else if (random() < 0.6) await attempt(() => caller.get(`${path}/results?limit=50`));
    else await attempt(() => caller.stop(id));
  }

  async function attempt(work: () => Promise<Answer>): Promise<Answer | undefined> {
    try {
      const answer = await work();
      if (answer.status >= 500 && answer.status !== 503)
        workload.offences.push(`${answer.status} ${answer.text.slice(0, 300)}`);
      if (answer.status === 401 || answer.status === 404)
        workload.offences.push(`${answer.status} ${answer.text.slice(0, 300)}`);
      return answer;
    } catch {
      return undefined;
    }
  }
  return workload;
}

function send(world: World, { kind, key, caller, images }: Create): Promise<Answer> {
  const signal = AbortSignal.timeout(40_000);
  switch (kind) {
    case 'stream':
      return caller.createStream({ scene_code: 'person_vehicle', stream_url: world.streamUrl }, key, signal);
    case 'upload':
      return caller.createUpload(
        form(scene('person_vehicle'), {
          name: 'file',
          value: new Uint8Array(mp4),
          type: 'video/mp4',
          filename: 'a.mp4',
        }),
        key,
        signal,
      );
    case 'images': {
      const files = Array.from({ length: images }, () => ({
        name: 'files',
        value: new Uint8Array(jpeg),
        type: 'image/jpeg',
        filename: 'a.jpg',
      }));
      return caller.detect(form(...files), key, signal);
    }
  }
}
