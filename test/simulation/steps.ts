import { setTimeout as delay } from 'node:timers/promises';
import { brokenBy } from './broken.ts';
import { Statements } from './statements.ts';
import { realDelay, realNow, turn } from './virtual-time.ts';
import type { VirtualTime } from './virtual-time.ts';

/** What is used of the scheduler of fast-check: it decides which step comes next. */
export interface Scheduler {
  schedule: (task: Promise<unknown>, label: string) => Promise<unknown>;
  waitNext: (count: number) => Promise<void>;
  count: () => number;
}

/** One process of a service. All it does outside of its own memory is a step. */
export interface Process {
  readonly name: string;
  isDead: () => boolean;
  /** @throws ProcessDied: what comes after is no effect of it. */
  assertAlive: () => void;
  /** Waits until the scheduler picks this step. @throws ProcessDied once the process is dead. */
  step: (label: string) => Promise<void>;
  /** The step that ends a write; it can be picked once the standby has answered. */
  commitStep: (label: string) => Promise<void>;
  /** Times that a synchronous standby takes to answer its next commits, in this order; then none. */
  standbyMs: number[];
  /** No further step of it takes place. */
  kill: () => void;
}

/** Sessions that wait for what another session holds; an answer of theirs comes only after a step of that one. */
export interface Servers {
  countBlocked: () => Promise<number>;
}

export interface StepsOptions extends Servers {
  /** Is told each step that is taken. */
  onStep?: ((label: string) => void) | undefined;
}

export class ProcessDied extends Error {}

/** Runs work of a process that may die meanwhile. */
export async function untilDeath(work: () => Promise<unknown>): Promise<void> {
  await work().catch((error: unknown) => {
    if (!(error instanceof ProcessDied)) throw error;
  });
}

/** The scheduler has no step left and no timer leads on. */
const LONGEST_IDLE_MS = 900_000;
/** Answers of a server that come by themselves come much sooner. */
const ANSWER_MS = 30_000;

/** Takes one step of one process at a time, in an order that the scheduler picks. */
export class Steps {
  readonly #scheduler: Scheduler;
  readonly #time: VirtualTime;
  readonly #options: StepsOptions;
  readonly #processes: Process[] = [];
  /** Steps that processes have come to since the last one was picked. */
  #arrived: { label: string; go: () => void }[] = [];
  readonly #statements = new Statements();
  /** Moves of time under way. */
  #moves = 0;
  /** Changes with everything that happens. */
  #changes = 0;
  #isFree = true;

  constructor(scheduler: Scheduler, time: VirtualTime, options: StepsOptions) {
    this.#scheduler = scheduler;
    this.#time = time;
    this.#options = options;
  }

  /** @param livesFor steps after which it dies; what a server does for the last one takes place */
  process(name: string, livesFor = Infinity): Process {
    let stepsLeft = livesFor;
    let isDead = false;
    const killed = new AbortController();
    const assertAlive = () => {
      if (isDead) throw new ProcessDied(`${name} died`);
    };
    const process: Process = {
      name,
      isDead: () => isDead,
      assertAlive,
      step: async (label) => {
        assertAlive();
        if (!this.#isFree) await this.#turnOf(name, label);
        assertAlive();
        stepsLeft -= 1;
        if (stepsLeft <= 0) isDead = true;
      },
      commitStep: async (label) => {
        const waitMs = process.standbyMs.shift() ?? 0;
        if (waitMs > 0) await delay(waitMs, undefined, { signal: killed.signal }).catch(() => undefined);
        await process.step(label);
      },
      standbyMs: [],
      kill: () => {
        isDead = true;
        killed.abort();
      },
    };
    this.#processes.push(process);
    return process;
  }

  /**
   * No other step is taken until the server has answered, or works on nothing but what waits for another session. Then
   * the answer arrives in its turn.
   * @param withdraw takes it back from the server when it is not the only one that waits
   */
  async atServer<T>(work: () => Promise<T>, withdraw?: () => Promise<void>): Promise<T> {
    try {
      return await this.#statements.run(work, () => !this.#isFree, withdraw);
    } finally {
      this.#changes += 1;
    }
  }

  /** Resolves when a statement that was withdrawn may be sent again. */
  async turnToSendAgain(): Promise<void> {
    this.#changes += 1;
    await this.#statements.turnToSendAgain();
    this.#changes += 1;
  }

  /** As `atServer` for what the schedule itself does there; the answer arrives at once. */
  async beside<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#statements.run(work, () => false);
    } finally {
      this.#changes += 1;
    }
  }

  /** No step is taken and no answer arrives until so much time has passed. */
  async pass(ms: number): Promise<void> {
    this.#moves += 1;
    await this.#time.advance(ms);
    this.#moves -= 1;
    this.#changes += 1;
  }

  /**
   * Runs work of processes to its end, step by step.
   * @param afterEach looks at the world between two steps
   * @throws what the work or `afterEach` throws; Broken when nothing goes on
   */
  async run(work: (() => Promise<unknown>)[], afterEach: () => Promise<void> | void = () => undefined): Promise<void> {
    let isOver = false;
    this.#isFree = false;
    const all = Promise.all(work.map((begin) => begin())).finally(() => (isOver = true));
    all.catch(() => undefined);
    try {
      let idleFrom = this.#time.now().getTime();
      while (await this.#settled(() => isOver)) {
        await afterEach();
        if (this.#scheduler.count() > 0) {
          await this.#scheduler.waitNext(1);
          idleFrom = this.#time.now().getTime();
        } else {
          if (this.#time.now().getTime() - idleFrom > LONGEST_IDLE_MS) throw brokenBy('nothing goes on');
          await this.#time.toNextTimer();
        }
      }
      await afterEach();
    } finally {
      this.#isFree = true;
    }
    await all;
  }

  /** Ends all processes and waits until the servers are at rest. */
  async end(): Promise<void> {
    for (const process of this.#processes) process.kill();
    const deadline = realNow() + ANSWER_MS;
    do {
      for (const { go } of this.#arrived.splice(0)) go();
      while (this.#scheduler.count() > 0) await this.#scheduler.waitNext(1);
      while (this.#statements.deliver());
      await turn();
    } while ((!this.#statements.isIdle() || this.#arrived.length > 0) && realNow() < deadline);
  }

  #turnOf(name: string, label: string): Promise<void> {
    this.#changes += 1;
    return new Promise((go) => void this.#arrived.push({ label: `${name}: ${label}`, go }));
  }

  /** Waits until every process stands at a step, at a timer or behind a lock. Returns whether the work goes on. */
  async #settled(isOver: () => boolean): Promise<boolean> {
    const deadline = realNow() + ANSWER_MS;
    do await this.#quiet(deadline);
    while (this.#statements.deliver());
    // Of statements that a commit has let go at once, also of one process, none comes first by the speed of its
    // connection.
    const arrived = this.#arrived.splice(0).sort((a, b) => (a.label < b.label ? -1 : a.label > b.label ? 1 : 0));
    for (const { label, go } of arrived) {
      void this.#scheduler.schedule(Promise.resolve(), label).then(() => {
        this.#options.onStep?.(label);
        go();
      });
    }
    return !isOver();
  }

  /** Waits until servers have answered what they can, and processes have done what they can without an answer. */
  async #quiet(deadline: number): Promise<void> {
    let quietTurns = 0;
    for (let polls = 0; quietTurns < 2; polls += 1) {
      const before = this.#changes;
      await turn();
      const isAtRest = this.#moves === 0 && (await this.#areServersAtRest(polls));
      quietTurns = isAtRest && this.#changes === before ? quietTurns + 1 : 0;
      if (!isAtRest && polls > 50) await realDelay(1);
      if (realNow() > deadline) throw new Error('a server does not answer');
    }
  }

  async #areServersAtRest(polls: number): Promise<boolean> {
    const running = this.#statements.running();
    if (running === 0) return true;
    if (polls <= 2 || (await this.#options.countBlocked()) !== running) return false;
    return !(await this.#statements.withdraw());
  }
}
