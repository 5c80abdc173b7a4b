import { until } from '@vision/shared/testing/until';
import { Caller } from '../support/system.ts';
import { watchDisagreements } from '../support/watch-agreement.ts';
import { Creates } from './creates.ts';
import type { Create } from './creates.ts';
import type { Findings } from './findings.ts';
import { createReader } from './reader.ts';
import type { Reader } from './reader.ts';
import { createRules } from './rules.ts';
import type { Rules } from './rules.ts';
import type { Sources } from './sources.ts';

const PATIENCE = { timeoutMs: 120_000, intervalMs: 250 };

/** New frames of the stream that runs through all stages: so many are read before and after what a stage does. */
const FRAMES_AHEAD = 5;

/** More streams than two workers take beside the two that run (`world.ts`). */
const CROWD = 6;

/** Cursors that a caller got in one stage, with what lies behind them. */
interface Kept {
  stage: string;
  frames: { taskId: string; cursor: string; rest: string[] }[];
  history: { cursor: string; rest: string[] };
}

/** One caller, who does not know that anything is upgraded. */
export class Story {
  readonly #caller: Caller;
  readonly #findings: Findings;
  readonly #creates: Creates;
  readonly #reader: Reader;
  readonly #rules: Rules;
  readonly #kept: Kept[] = [];
  /** A stream that the next stage stops. */
  #left: Create | undefined;
  /** A stream that runs through all stages, and what was read of it. */
  #long: { create: Create; frames: string[]; cursor: string } | undefined;

  static async begin(findings: Findings, sources: Sources): Promise<Story> {
    const caller = await Caller.create({
      video_tasks_per_day: 1_000,
      images_per_day: 1_000,
      active_tasks: 100,
      image_calls: 100,
      video_uploads: 100,
      requests_per_second: 1_000,
      burst: 2_000,
    });
    return new Story(caller, findings, sources);
  }

  private constructor(caller: Caller, findings: Findings, sources: Sources) {
    this.#caller = caller;
    this.#findings = findings;
    this.#creates = new Creates(caller, findings, sources);
    this.#reader = createReader(caller, findings);
    this.#rules = createRules(caller, findings);
  }

  /** Goes on with what the stages before have begun, and begins one of everything. */
  async liveThrough(stage: string): Promise<void> {
    if (this.#creates.all.length > 0) await this.#goOn(stage);
    await this.#beginEverything(stage);
    await Promise.all((await this.#creates.makeCrowd(stage, CROWD)).map((create) => this.#stop(create)));
    await this.#follow(stage);
    await this.#checkUnits(stage);
    await this.#keepCursors(stage);
  }

  /** Requests at once that reach every service. */
  async askEverybody(stage: string): Promise<void> {
    const { ask } = this.#findings;
    const taskId = this.#creates.all.find(({ kind }) => kind === 'upload')?.taskId ?? '';
    const ofTask = `/v1/vision/tasks/${taskId}`;
    const paths = ['/v1/vision/usage', ofTask, `${ofTask}/results`, '/v1/vision/events'];
    const rounds = Array.from({ length: 6 }, () => [
      ...paths.map((path) => ask(`${stage}: one of many at once`, [200], () => this.#caller.get(path))),
      this.#creates.makeOnce(stage, 'images'),
    ]);
    await Promise.all(rounds.flat());
  }

  /** Ends what still runs; everything has to be there, once. */
  async end(): Promise<void> {
    for (const create of [this.#left, this.#long?.create]) if (create) await this.#stop(create);
    for (const { what, taskId, ends } of this.#creates.all) await this.#reader.untilStatus(what, taskId, ends);
    await this.#readTheRest();
    await this.#checkUnits('end');
  }

  /** Everything that was read before has to be read again, wherever it lies now. */
  async readAgain(when: string): Promise<void> {
    await this.#readBehindCursors(when);
    await this.#readLong(when);
    await this.#watchAgain(when);
  }

  /** Tracks and timeline of every video say what its frames say, whichever release stored them. */
  async #watchAgain(when: string): Promise<void> {
    const videos = this.#creates.all.filter(({ kind }) => kind === 'upload' || kind === 'stream');
    for (const { what, taskId } of videos) {
      let found: string[] = [];
      const agree = async () => {
        found = await watchDisagreements(this.#caller, taskId).catch((error: unknown) => [String(error)]);
        return found.length === 0;
      };
      await until(agree, PATIENCE).catch(() => {
        this.#findings.breach(`${when}: ${what}: ${found.join('; ')}`);
      });
    }
  }

  async #beginEverything(stage: string): Promise<void> {
    const creates = this.#creates;
    await this.#rules.make(stage);
    await creates.makeTwice(stage, 'images');
    await creates.makeTwice(stage, 'refused upload');
    await Promise.all([this.#runUpload(stage), this.#runStream(stage)]);
    this.#left = await creates.makeTwice(stage, 'stream');
    if (this.#long) return;
    const create = await creates.makeTwice(stage, 'stream');
    if (create) this.#long = { create, frames: [], cursor: '' };
  }

  async #runUpload(stage: string): Promise<void> {
    const upload = await this.#creates.makeTwice(stage, 'upload');
    if (!upload) return;
    await this.#reader.untilStatus(upload.what, upload.taskId, upload.ends);
    await this.#rules.untilRaised(upload.what, upload.taskId);
  }

  /** A stream that is stopped in the stage that began it. */
  async #runStream(stage: string): Promise<void> {
    const stream = await this.#creates.makeTwice(stage, 'stream');
    if (stream) await this.#stop(stream);
  }

  async #stop({ what, taskId, ends }: Create): Promise<void> {
    const { ask, breach } = this.#findings;
    const hasFrames = async () => (await this.#reader.pages(what, taskId, { pages: 1 })).frames.length > 0;
    await until(hasFrames, PATIENCE).catch(() => breach(`${what}: no frame in two minutes`));
    const answer = await ask(`${what}, stopped`, [200, 202], () => this.#caller.stop(taskId));
    if (answer) await this.#reader.untilStatus(what, taskId, ends);
  }

  /** Everything that earlier stages made is repeated, read and gone on with. */
  async #goOn(stage: string): Promise<void> {
    await this.#creates.repeatAll(stage);
    if (this.#left) await this.#stop(this.#left);
    await this.#readBehindCursors(stage);
    await this.#follow(stage);
  }

  async #readBehindCursors(stage: string): Promise<void> {
    const { same } = this.#findings;
    for (const { stage: before, frames, history } of this.#kept) {
      for (const { taskId, cursor, rest } of frames) {
        const what = `${stage}: frames of ${taskId} behind a cursor of "${before}"`;
        same(what, (await this.#reader.pages(what, taskId, { cursor })).frames, rest);
      }
      const what = `${stage}: history behind a cursor of "${before}"`;
      same(what, (await this.#reader.history(what, { cursor: history.cursor })).ids, history.rest);
    }
  }

  /** Reads on in the stream of all stages, as long as new frames come. */
  async #follow(stage: string): Promise<void> {
    const long = this.#long;
    if (!long) return;
    const what = `${stage}: the stream of all stages`;
    const wanted = long.frames.length + FRAMES_AHEAD;
    const isAhead = async () => {
      const page = await this.#reader.pages(what, long.create.taskId, { cursor: long.cursor, pages: 1 });
      long.frames.push(...page.frames);
      long.cursor = page.resume;
      return long.frames.length >= wanted || page.resume === '';
    };
    const { breach } = this.#findings;
    await until(isAhead, PATIENCE).catch(() => breach(`${what} has no new frames in two minutes`));
    if (long.cursor === '') breach(`${what} ended by itself`);
  }

  /** Cursors in the middle of what is there, for the stages to come. */
  async #keepCursors(stage: string): Promise<void> {
    const { same, breach } = this.#findings;
    const frames: Kept['frames'] = [];
    const own = this.#creates.all.filter((create) => create.stage === stage && create.kind === 'upload');
    for (const { what, taskId } of own) {
      const all = await this.#reader.pages(what, taskId, {});
      const first = await this.#reader.pages(what, taskId, { pages: 1 });
      same(`${what}, every frame once`, new Set(all.frames).size, all.frames.length);
      if (first.next === '') breach(`${what} has only ${all.frames.length} frames`);
      else frames.push({ taskId, cursor: first.next, rest: all.frames.slice(first.frames.length) });
    }
    const what = `${stage}: history`;
    const ids = this.#creates.all.map(({ taskId }) => taskId).toSorted();
    // Calls for pictures come into it by events.
    const isComplete = async () => (await this.#reader.history(what, {})).ids.toSorted().join() === ids.join();
    await until(isComplete, PATIENCE).catch(() => breach(`${what} does not have every task once`));
    const { ids: all } = await this.#reader.history(what, {});
    const first = await this.#reader.history(what, { pages: 1 });
    this.#kept.push({ stage, frames, history: { cursor: first.next, rest: all.slice(first.ids.length) } });
  }

  async #readTheRest(): Promise<void> {
    if (!this.#long) return;
    const { create, frames, cursor } = this.#long;
    const what = 'the stream of all stages';
    const rest = await this.#reader.pages(what, create.taskId, { cursor });
    this.#findings.same(`${what} is over for its reader`, rest.resume, '');
    frames.push(...rest.frames);
    await this.#readLong('end');
  }

  /** From its beginning; what was read while it ran is all of it. */
  async #readLong(when: string): Promise<void> {
    if (!this.#long) return;
    const { create, frames } = this.#long;
    const { same } = this.#findings;
    const what = `${when}: the stream of all stages`;
    const all = await this.#reader.pages(what, create.taskId, {});
    same(`${what}, every frame once`, new Set(all.frames).size, all.frames.length);
    same(`${what}, read while it ran as it is stored`, frames.toSorted(), all.frames.toSorted());
  }

  /** Settlements may take a moment. */
  async #checkUnits(stage: string): Promise<void> {
    const { ask, same } = this.#findings;
    const { units } = this.#creates;
    let seen = {};
    const agree = async () => {
      const answer = await ask(`${stage}: usage`, [200], () => this.#caller.get('/v1/vision/usage'));
      const { video, image } = (answer?.body ?? {}) as { video?: { used: number }; image?: { used: number } };
      seen = { video: video?.used, image: image?.used };
      return JSON.stringify(seen) === JSON.stringify(units);
    };
    await until(agree, { timeoutMs: 30_000, intervalMs: 500 }).catch(() => undefined);
    same(`${stage}: units used`, seen, units);
  }
}
