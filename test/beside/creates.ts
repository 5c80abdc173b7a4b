import { randomUUID } from 'node:crypto';
import { form, jpeg, problemOf, scene } from '../support/system.ts';
import type { Answer, Caller } from '../support/system.ts';
import { video } from '../support/video.ts';
import type { Findings } from './findings.ts';
import type { Sources } from './sources.ts';

/** Its detector needs no model, so it costs little. */
const SCENE = 'fire_smoke';

const NO_PLACE = 'inference_no_capacity';

export type Kind = 'images' | 'upload' | 'refused upload' | 'stream';

/** A create, and what its task has to be from its end on. */
export interface Create {
  /** Stage and kind, for sentences. */
  what: string;
  stage: string;
  kind: Kind;
  key: string;
  taskId: string;
  /** What was answered first. */
  told: Answer['body'];
  ends: 'succeeded' | 'refunded' | 'stopped';
}

const ends: Record<Kind, Create['ends']> = {
  images: 'succeeded',
  upload: 'succeeded',
  'refused upload': 'refunded',
  stream: 'stopped',
};

/** Makes and repeats creates of every kind, and knows how many units they cost. */
export class Creates {
  readonly all: Create[] = [];
  /** Units that the caller has to have used by all of them. */
  readonly units = { video: 0, image: 0 };
  readonly #caller: Caller;
  readonly #findings: Findings;
  readonly #sources: Sources;

  constructor(caller: Caller, findings: Findings, sources: Sources) {
    this.#caller = caller;
    this.#findings = findings;
    this.#sources = sources;
  }

  /** Sends a create twice at once: both answers name one task, and one of them says that it is a repeat. */
  async makeTwice(stage: string, kind: Kind): Promise<Create | undefined> {
    const { ask, same } = this.#findings;
    const what = `${stage}: ${kind}`;
    const key = randomUUID();
    const both = [1, 2].map(() => ask(`${what}, created`, [200, 201], () => this.#send(kind, key)));
    const answers = (await Promise.all(both)).flatMap((answer) => answer ?? []);
    const [first, second] = answers;
    if (!first) return undefined;
    // Where one of them failed, what the other made is there all the same.
    if (second) {
      same(`${what}, two at once with one key name one task`, taskIdOf(second), taskIdOf(first));
      same(`${what}, one of two at once is a repeat`, answers.filter(isRepeat).length, 1);
    }
    return this.#keep({ what, stage, kind, key, taskId: taskIdOf(first), told: first.body, ends: ends[kind] });
  }

  /** Sends a create once, for the sake of who answers. */
  async makeOnce(stage: string, kind: Kind): Promise<void> {
    const what = `${stage}: one more ${kind}`;
    const key = randomUUID();
    const answer = await this.#findings.ask(what, [201], () => this.#send(kind, key));
    if (answer) this.#keep({ what, stage, kind, key, taskId: taskIdOf(answer), told: answer.body, ends: ends[kind] });
  }

  /** Asks for more streams at once than there are places. Who gets none is told so and owes nothing. */
  async makeCrowd(stage: string, count: number): Promise<Create[]> {
    const { ask, same, breach } = this.#findings;
    const what = `${stage}: one stream of a crowd`;
    const sent = Array.from({ length: count }, async () => {
      const key = randomUUID();
      return { key, answer: await ask(what, [201, 503], () => this.#send('stream', key)) };
    });
    const answered = (await Promise.all(sent)).flatMap(({ key, answer }) => (answer ? { key, answer } : []));
    const [made, refused] = [201, 503].map((status) => answered.filter(({ answer }) => answer.status === status));
    for (const { answer } of refused ?? []) same(`${what}, refused`, problemOf(answer).details.reason, NO_PLACE);
    if (!made?.length || !refused?.length) breach(`${what}: ${made?.length ?? 0} of ${count} were taken`);
    return (made ?? []).map(({ key, answer }) =>
      this.#keep({ what, stage, kind: 'stream', key, taskId: taskIdOf(answer), told: answer.body, ends: ends.stream }),
    );
  }

  /** Sends every create again: each names its task and says that it is a repeat. */
  async repeatAll(stage: string): Promise<void> {
    const { ask, same } = this.#findings;
    for (const made of this.all) {
      const what = `${stage}: repeat of "${made.what}"`;
      const answer = await ask(what, [200], () => this.#send(made.kind, made.key));
      if (!answer) continue;
      same(`${what}, names the task`, taskIdOf(answer), made.taskId);
      same(`${what}, says that it is one`, isRepeat(answer), true);
      if (made.kind === 'images') same(`${what}, gives the results`, answer.body['results'], made.told['results']);
    }
  }

  #keep(made: Create): Create {
    const { same } = this.#findings;
    this.all.push(made);
    if (made.kind === 'refused upload') same(`${made.what}, its answer`, made.told['status'], 'refunded');
    else if (made.kind === 'images') this.units.image += this.#picturesRead(made);
    else this.units.video += 1;
    return made;
  }

  #picturesRead({ what, told }: Create): number {
    const outcomes = ((told['results'] ?? []) as { status: string }[]).map(({ status }) => status);
    this.#findings.same(`${what}, one picture is read and one is not`, outcomes, ['succeeded', 'failed']);
    return 1;
  }

  #send(kind: Kind, key: string): Promise<Answer> {
    const { clip, soundOnly, picture, streamUrl } = this.#sources;
    switch (kind) {
      case 'stream':
        return this.#caller.createStream({ scene_code: SCENE, stream_url: streamUrl }, key);
      case 'images':
        // One picture cannot be read: its unit is given back.
        return this.#caller.detect(form(scene(SCENE), jpeg(picture), jpeg(picture.subarray(0, 100))), key);
      case 'upload':
        return this.#caller.createUpload(form(scene(SCENE), video(clip)), key);
      case 'refused upload':
        return this.#caller.createUpload(form(scene(SCENE), video(soundOnly)), key);
    }
  }
}

const taskIdOf = (answer: Answer) => String(answer.body['task_id']);

/** A repeat says so in its header and is no creation. */
const isRepeat = ({ status, headers }: Answer) => status === 200 && headers.get('idempotency-replayed') === 'true';
