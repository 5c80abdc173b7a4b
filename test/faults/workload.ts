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

/** A task or image call that its owner deletes, by its id; from then on others may find that it is gone. */
export interface Deletion {
  create: Create;
  /** When the request was answered with 202, if it was; from then on nobody may find it. */
  answeredAt: number | undefined;
}

export interface Workload {
  callers: readonly Caller[];
  creates: Create[];
  stops: Stop[];
  deletions: Map<string, Deletion>;
  /** Answers that no client may ever see: 500, or a 5xx for what the client did wrong. */
  offences: string[];
  /** One operation by one of the callers. */
  act: () => Promise<void>;
  /** Sends a create once more, with the same key and meaning. */
  repeat: (create: Create) => Promise<Answer | undefined>;
  /** Stops a task as its owner. */
  stop: (caller: Caller, taskId: string) => Promise<Answer | undefined>;
  /** Deletes an ended task or an image call as its owner. */
  remove: (taskId: string, create: Create) => Promise<Answer | undefined>;
}

interface WorkloadOptions {
  observe?: Observe;
  /** Whether clients delete some of what has ended. */
  deletes?: boolean;
}

/**
 * Live streams at most: with more, the workload stops the oldest before it asks again. Real workers have few places;
 * without a limit for the others a long run would do nothing but store their frames.
 */
const LIVE_STREAMS: Partial<Record<Kind, number>> = { 'real stream': 5, stream: 15 };

/** Of each caller, all out of reach. Slots are shared by these weights, and equal ones hide faults. */
const ACTIVE_TASKS = [10_000, 3_000, 1_000];

const mp4 = Buffer.concat([
  Buffer.from([0, 0, 0, 24]),
  Buffer.from('ftypisom\0\0\0\0isommp42'),
  Buffer.alloc(200_000, 7),
]);
/** What the scripted backend is sent looks like a picture and is none; the real one has to be decoded. */
const drawn = await sharp({ create: { width: 64, height: 48, channels: 3, background: 'orange' } })
  .jpeg()
  .toBuffer();
const looksLikeJpeg = (bytes: number) => Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(bytes, 3)]);
const jpeg = looksLikeJpeg(50_000);
/** Too large to wait in the memory of images: it waits on its disk. */
const largeJpeg = looksLikeJpeg(1_200_000);

/** Hears of every request: its answer, or why none came. */
export type Observe = (operation: string, outcome: Answer | Error) => void;

/** Seeded clients of the public API: creates of every kind, repeats, reads, stops and deletions. */
export async function createWorkload(
  world: World,
  random: () => number,
  { observe = () => undefined, deletes = false }: WorkloadOptions = {},
): Promise<Workload> {
  // A refusal for want of quota would tell nothing about faults, however long the run.
  const limits = {
    video_tasks_per_day: 100_000,
    images_per_day: 100_000,
    image_calls: 1000,
    video_uploads: 1000,
    requests_per_second: 1000,
    burst: 2000,
  };
  const callers = await Promise.all(ACTIVE_TASKS.map((tasks) => Caller.create({ ...limits, active_tasks: tasks })));
  for (const { key } of callers) world.exported.forbid(key, 'the API key of a caller');
  world.exported.forbid(clientRefOf(world), 'a client_ref');
  const workload: Workload = {
    callers,
    creates: [],
    stops: [],
    deletions: new Map(),
    offences: [],
    act: async () => {
      const roll = random();
      if (roll < 0.45 || workload.creates.length === 0) await create();
      else if (roll < 0.65) await workload.repeat(pick(random, workload.creates));
      else await useTask(pick(random, workload.creates));
    },
    repeat: async (known) => {
      const answer = await attempt(`create ${known.kind}`, () => send(world, known), taskIdOf(known));
      known.answers.push(answer);
      return answer;
    },
    stop: async (caller, taskId) => {
      const stop: Stop = { taskId, askedAt: Date.now(), answeredAt: undefined };
      const answer = await attempt('stop', () => caller.stop(taskId), taskId);
      if (!answer || answer.status >= 400) return answer;
      stop.answeredAt = Date.now();
      workload.stops.push(stop);
      return answer;
    },
    remove: async (taskId, known) => {
      const deletion = workload.deletions.get(taskId) ?? { create: known, answeredAt: undefined };
      workload.deletions.set(taskId, deletion);
      const answer = await attempt('delete', () => known.caller.send('DELETE', `/v1/vision/tasks/${taskId}`));
      if (answer?.status === 202) deletion.answeredAt ??= Date.now();
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
    if (kind.endsWith('images') || random() < 0.4) await readTask(id, known);
    else if (random() < 0.5) await readFrames(caller, id);
    else if (random() < 0.4) await openStream(caller, id);
    else await workload.stop(caller, id);
  }

  /** What has ended is deleted now and then. */
  async function readTask(id: string, known: Create): Promise<void> {
    const isDeleted = workload.deletions.get(id)?.answeredAt !== undefined;
    const answer = await attempt('read a task', () => known.caller.get(`/v1/vision/tasks/${id}`), id);
    if (answer?.status !== 200) return;
    if (isDeleted) workload.offences.push(`${known.kind} ${id} was deleted and is read: ${answer.text.slice(0, 300)}`);
    else if (deletes && ENDED.has(String(answer.body['status'])) && random() < DELETED)
      await workload.remove(id, known);
  }

  async function readFrames(caller: Caller, id: string): Promise<void> {
    const path = `/v1/vision/tasks/${id}/results?limit=5`;
    const page = await attempt('read frames', () => caller.get(path), id);
    const cursor = page?.body['next_cursor'];
    if (typeof cursor !== 'string' || cursor === '') return;
    world.exported.forbid(cursor, 'a cursor');
    await attempt('read frames', () => caller.get(`${path}&cursor=${cursor}`), id);
  }

  /** Opens a stream of results and leaves it after its first bytes, as a page of a browser that is closed does. */
  async function openStream(caller: Caller, id: string): Promise<void> {
    const leave = new AbortController();
    const signal = AbortSignal.any([leave.signal, AbortSignal.timeout(40_000)]);
    const open = async () => {
      const init = { headers: { authorization: `Bearer ${caller.key}` }, signal };
      const { status, headers, body } = await fetch(`${system.baseUrl}/v1/vision/tasks/${id}/results/stream`, init);
      const first = (await body?.getReader().read()) as { value?: Uint8Array } | undefined;
      leave.abort();
      return { status, headers, body: {}, text: Buffer.from(first?.value ?? []).toString() };
    };
    await attempt('open a stream', open, id);
  }

  /** With the id of a task, as another client may have deleted it. */
  async function attempt(operation: string, work: () => Promise<Answer>, id = ''): Promise<Answer | undefined> {
    try {
      const answer = await work();
      observe(operation, answer);
      if (answer.status >= 500 && answer.status !== 503)
        workload.offences.push(`${answer.status} ${answer.text.slice(0, 300)}`);
      if (answer.status === 401 || (answer.status === 404 && !workload.deletions.has(id)))
        workload.offences.push(`${answer.status} ${answer.text.slice(0, 300)}`);
      return answer;
    } catch (error) {
      observe(operation, error instanceof Error ? error : new Error('no answer'));
      return undefined;
    }
  }
  return workload;
}

const ENDED = new Set(['stopped', 'succeeded', 'failed']);
/** Of the tasks that are read when they have ended. */
const DELETED = 0.3;

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
      const fake = create.images === 1 ? largeJpeg : jpeg;
      const files = Array.from({ length: create.images }, () => picture(isReal ? drawn : fake, world.canary));
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
