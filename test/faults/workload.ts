import { randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { Caller, form, scene, system } from '../support/system.ts';
import type { Answer } from '../support/system.ts';
import { video } from '../support/video.ts';
import { pick } from './random.ts';
import { REAL_SCENE } from './world/backends.ts';
import type { World } from './world/world.ts';

/** The real ones are worked on by inference workers, the others by the scripted backend. */
export type Kind = 'stream' | 'upload' | 'images' | 'real stream' | 'real upload' | 'real images';

/** What a client knows of one create: every answer it got for the key, in order. `undefined` = no answer came. */
export interface Create {
  kind: Kind;
  key: string;
  caller: Caller;
  answers: (Answer | undefined)[];
  images: number;
  /** Address of the stream. */
  streamUrl: string;
}

/** A stop that was asked for, by the clock of this process. */
export interface Stop {
  taskId: string;
  askedAt: number;
  /** When the answer came, if one came. */
  answeredAt: number | undefined;
}

export interface Workload {
  callers: readonly Caller[];
  creates: Create[];
  stops: Stop[];
  /** Answers that no client may ever see: 500, or a 5xx for what the client did wrong. */
  offences: string[];
  /** One operation by one of the callers. */
  act: () => Promise<void>;
  /** Sends a create once more, with the same key and meaning. */
  repeat: (create: Create) => Promise<Answer | undefined>;
  /** Stops a task as its owner. */
  stop: (caller: Caller, taskId: string) => Promise<Answer | undefined>;
}

/**
 * Live streams at most: with more, the workload stops the oldest before it asks again. Real workers have few places;
 * without a limit for the others a long run would do nothing but store their frames.
 */
const LIVE_STREAMS: Partial<Record<Kind, number>> = { 'real stream': 5, stream: 15 };

const mp4 = Buffer.concat([
  Buffer.from([0, 0, 0, 24]),
  Buffer.from('ftypisom\0\0\0\0isommp42'),
  Buffer.alloc(200_000, 7),
]);
/** What the scripted backend is sent looks like a picture and is none; the real one has to be decoded. */
const drawn = await sharp({ create: { width: 64, height: 48, channels: 3, background: 'orange' } })
  .jpeg()
  .toBuffer();
const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(50_000, 3)]);

/** Hears of every request: its answer, or why none came. */
export type Observe = (operation: string, outcome: Answer | Error) => void;

/** Seeded clients of the public API: creates of every kind, repeats, reads and stops. */
export async function createWorkload(
  world: World,
  random: () => number,
  observe: Observe = () => undefined,
): Promise<Workload> {
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
  for (const { key } of callers) world.exported.forbid(key, 'the API key of a caller');
  world.exported.forbid(clientRefOf(world), 'a client_ref');
  const workload: Workload = {
    callers,
    creates: [],
    stops: [],
    offences: [],
    act: async () => {
      const roll = random();
      if (roll < 0.45 || workload.creates.length === 0) await create();
      else if (roll < 0.65) await workload.repeat(pick(random, workload.creates));
      else await useTask(pick(random, workload.creates));
    },
    repeat: async (known) => {
      const answer = await attempt(`create ${known.kind}`, () => send(world, known));
      known.answers.push(answer);
      return answer;
    },
    stop: async (caller, taskId) => {
      const stop: Stop = { taskId, askedAt: Date.now(), answeredAt: undefined };
      const answer = await attempt('stop', () => caller.stop(taskId));
      if (!answer || answer.status >= 400) return answer;
      stop.answeredAt = Date.now();
      workload.stops.push(stop);
      return answer;
    },
  };
  const live = new Map<Kind, Create[]>();

  async function create(): Promise<void> {
    const kind = pick(random, kinds);
    const made: Create = {
      kind,
      key: randomUUID(),
      caller: pick(random, callers),
      answers: [],
      images: 1 + Math.floor(random() * 4),
      streamUrl: withCanary(kind === 'real stream' ? pick(random, world.streams.live).url : world.streams.probed),
    };
    workload.creates.push(made);
    await makeRoom(kind);
    await workload.repeat(made);
    if (LIVE_STREAMS[kind] !== undefined && taskIdOf(made)) live.set(kind, [...(live.get(kind) ?? []), made]);
  }

  async function makeRoom(kind: Kind): Promise<void> {
    const own = live.get(kind) ?? [];
    const oldest = own.length >= (LIVE_STREAMS[kind] ?? Infinity) ? own.shift() : undefined;
    const id = oldest && taskIdOf(oldest);
    if (id) await workload.stop(oldest.caller, id);
  }

  /** Servers that ask for no credentials do not look at them; in our logs they would be seen. */
  function withCanary(url: string): string {
    const named = url.replace('//', `//user:${world.canary}@`);
    return /^http.*\.(ts|flv|m3u8)$/.test(named) ? `${named}?camera=${world.canary}` : named;
  }

  async function useTask(known: Create): Promise<void> {
    const { caller, kind } = known;
    const id = taskIdOf(known);
    if (id === undefined) return;
    const path = `/v1/vision/tasks/${id}`;
    if (kind.endsWith('images') || random() < 0.4) await attempt('read a task', () => caller.get(path));
    else if (random() < 0.5) await readFrames(caller, path);
    else if (random() < 0.4) await openStream(caller, path);
    else await workload.stop(caller, id);
  }

  async function readFrames(caller: Caller, path: string): Promise<void> {
    const page = await attempt('read frames', () => caller.get(`${path}/results?limit=5`));
    const cursor = page?.body['next_cursor'];
    if (typeof cursor !== 'string' || cursor === '') return;
    world.exported.forbid(cursor, 'a cursor');
    await attempt('read frames', () => caller.get(`${path}/results?limit=5&cursor=${cursor}`));
  }

  /** Opens a stream of results and leaves it after its first bytes, as a page of a browser that is closed does. */
  async function openStream(caller: Caller, path: string): Promise<void> {
    const leave = new AbortController();
    const signal = AbortSignal.any([leave.signal, AbortSignal.timeout(40_000)]);
    await attempt('open a stream', async () => {
      const init = { headers: { authorization: `Bearer ${caller.key}` }, signal };
      const { status, headers, body } = await fetch(`${system.baseUrl}${path}/results/stream`, init);
      const first = (await body?.getReader().read()) as { value?: Uint8Array } | undefined;
      leave.abort();
      return { status, headers, body: {}, text: Buffer.from(first?.value ?? []).toString() };
    });
  }

  async function attempt(operation: string, work: () => Promise<Answer>): Promise<Answer | undefined> {
    try {
      const answer = await work();
      observe(operation, answer);
      if (answer.status >= 500 && answer.status !== 503)
        workload.offences.push(`${answer.status} ${answer.text.slice(0, 300)}`);
      if (answer.status === 401 || answer.status === 404)
        workload.offences.push(`${answer.status} ${answer.text.slice(0, 300)}`);
      return answer;
    } catch (error) {
      observe(operation, error instanceof Error ? error : new Error('no answer'));
      return undefined;
    }
  }
  return workload;
}

const kinds: readonly Kind[] = [
  'stream',
  'stream',
  'upload',
  'upload',
  'images',
  'images',
  'images',
  'real stream',
  'real upload',
  'real upload',
  'real images',
];

/** The task that the last answer named. */
export function taskIdOf({ answers }: Create): string | undefined {
  const id = answers.findLast((answer) => answer && answer.status < 300)?.body['task_id'];
  return typeof id === 'string' ? id : undefined;
}

/** The caller's own word for all that it creates. */
const clientRefOf = ({ canary }: World) => canary.replace('canary', 'site').toUpperCase();

function send(world: World, create: Create): Promise<Answer> {
  const { key, caller } = create;
  const signal = AbortSignal.timeout(40_000);
  const isReal = create.kind.startsWith('real');
  const query = `?client_ref=${clientRefOf(world)}`;
  const sceneCode = isReal ? REAL_SCENE : 'person_vehicle';
  switch (create.kind) {
    case 'stream':
    case 'real stream':
      return caller.createStream({ scene_code: sceneCode, stream_url: create.streamUrl }, key, signal, query);
    case 'upload':
    case 'real upload':
      return caller.createUpload(
        form(scene(sceneCode), video(isReal ? world.streams.clip : mp4, `${world.canary}.mp4`)),
        key,
        signal,
        // Images of tracks are best effort; nothing that they do may touch frames.
        isReal ? `${query}&snapshots=tracks` : query,
      );
    case 'images':
    case 'real images': {
      const files = Array.from({ length: create.images }, () => picture(isReal ? drawn : jpeg, world.canary));
      return caller.detect(form(scene(sceneCode), ...files), key, signal, query);
    }
  }
}

const picture = (bytes: Uint8Array, name: string) => ({
  name: 'files',
  value: new Uint8Array(bytes),
  type: 'image/jpeg',
  filename: `${name}.jpg`,
});
