import { createHash } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { bulkFault } from '../bulk.ts';
import type { FuzzTarget } from '../target.ts';
import type { Feedback } from './feedback.ts';
import { mutate } from './mutate.ts';
import { createRandom } from './random.ts';

export interface Finding {
  /** The error, with the place in the sources. */
  error: string;
  input: Buffer;
}

export interface FuzzReport {
  inputs: number;
  seconds: number;
  edges: number;
  edgesHit: number;
  findings: Finding[];
  /** Inputs that together pass every edge that was passed. */
  corpus: Buffer[];
}

export interface FuzzOptions {
  target: FuzzTarget;
  feedback: Feedback;
  seeds: readonly Buffer[];
  seed: number;
  until: number;
  /** Told before each input, so that a watcher knows what hangs. */
  onInput: (input: Buffer) => void;
}

const SLOW_MS = 50;
/** Megabytes are made of few of the inputs that pass new edges: each run of them takes as long as thousands. */
const BULK_ONE_IN = 32;
const REST_AFTER_MS = 100;
const MAX_FINDINGS = 10;
/** Of buffers of this thread, which its limit of memory does not count. */
const MAX_BUFFER_BYTES = 1 << 30;

/**
 * Changes inputs at random and keeps those that make the code pass an edge it did not pass before, or more often
 * than before; what is kept is changed further. The way of AFL and libFuzzer, small.
 */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const { feedback, seeds, until } = options;
  const random = createRandom(options.seed);
  const trial = createTrial(options);
  const kept: Buffer[] = [];
  const keep = async ({ input, news }: Tried) => {
    if (news.length === 0 && kept.length > 0) return;
    kept.push(input);
    if (random.below(BULK_ONE_IN) === 0) await trial.runBulk(input);
  };
  for (const seed of [Buffer.of(), ...seeds]) await keep(await trial.run(seed));
  // Modules are loaded in any order.
  const words = [...feedback.words].sort(byText).flatMap(bytesOf);
  const { maxBytes } = options.target;
  const sources = { random, feedback, words, maxBytes, other: () => random.pick(kept) };
  while (Date.now() < until && trial.findings.length < MAX_FINDINGS) {
    const bytes = choose(kept, random.below);
    const rounds = 1 + random.below(64);
    for (let round = 0; round < rounds; round += 1) {
      await keep(await trial.run(mutate(bytes, sources)));
    }
  }
  const minimal = await cover(kept, trial);
  return { ...trial.summary(), corpus: minimal };
}

interface Tried {
  input: Buffer;
  news: number[];
}

/** Runs single inputs and remembers what has been seen. */
function createTrial({ target, feedback, onInput }: FuzzOptions) {
  const seen = new Uint16Array(feedback.edges.length);
  const findings = new Map<string, Finding>();
  const started = performance.now();
  let inputs = 0;
  let restedAt = started;
  let latest: Buffer = Buffer.of();

  const time = async (input: Buffer): Promise<number> => {
    const from = performance.now();
    const pending = target.check(input);
    if (pending !== undefined) await pending;
    return performance.now() - from;
  };
  const note = (input: Buffer, error: string) => {
    const known = findings.get(keyOf(error));
    if (!known || known.input.length > input.length) findings.set(keyOf(error), { error, input });
  };
  /** The watcher, timers and what the target put off get their turn. */
  const rest = async () => {
    await new Promise((done) => setImmediate(done));
    if (holdsTooMuch()) note(latest, 'fills the memory with buffers');
    restedAt = performance.now();
  };
  const isDueToRest = () => performance.now() - restedAt > REST_AFTER_MS;
  const run = async (input: Buffer): Promise<Tried> => {
    if (isDueToRest()) await rest();
    feedback.edges.fill(0, 0, feedback.edgeCount);
    inputs += 1;
    latest = input;
    onInput(input);
    try {
      const ms = await time(input);
      const news = newsOf(feedback, seen);
      const slowMs = target.slowMs ?? SLOW_MS;
      const isSlow = ms > slowMs && (await unnoted(feedback, () => quickest(() => time(input), slowMs))) > slowMs;
      if (isSlow) note(input, `took ${Math.round(ms)} ms`);
      return { input, news };
    } catch {
      note(input, describe(await unnoted(feedback, () => failureOf(target, input))));
      return { input, news: [] };
    }
  };
  const runBulk = async (input: Buffer) => {
    const { bulk } = target;
    const fault = bulk && (await unnoted(feedback, () => bulkFault(bulk, input)));
    if (fault !== undefined) note(input, `much of it ${fault}`);
  };
  return {
    run,
    runBulk,
    seen,
    edgesOf: async (input: Buffer): Promise<number[]> => {
      if (isDueToRest()) await rest();
      feedback.edges.fill(0, 0, feedback.edgeCount);
      onInput(input);
      await time(input).catch(() => undefined);
      return passed(feedback);
    },
    get findings() {
      return [...findings.values()];
    },
    summary: () => ({
      inputs,
      seconds: (performance.now() - started) / 1000,
      edges: feedback.edgeCount,
      edgesHit: seen.subarray(0, feedback.edgeCount).filter((bits) => bits !== 0).length,
      findings: [...findings.values()],
    }),
  };
}

/** Buffers that nothing holds count only until they are collected, which a busy thread puts off. */
function holdsTooMuch(): boolean {
  if (process.memoryUsage().arrayBuffers <= MAX_BUFFER_BYTES) return false;
  collectGarbage();
  return process.memoryUsage().arrayBuffers > MAX_BUFFER_BYTES;
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** Leaves no comparisons behind for the inputs to come: how much is tried here depends on the machine. */
async function unnoted<T>(feedback: Feedback, work: () => Promise<T>): Promise<T> {
  const { at, compared } = feedback;
  feedback.compared = [...compared];
  try {
    return await work();
  } finally {
    Object.assign(feedback, { at, compared });
  }
}

/** Tries again with a stack, which would cost more than most inputs. */
async function failureOf({ check }: FuzzTarget, input: Buffer): Promise<unknown> {
  const usual = Error.stackTraceLimit;
  Error.stackTraceLimit = 30;
  try {
    await check(input);
    return new Error('failed once, and not when it was tried again');
  } catch (error) {
    return error;
  } finally {
    Error.stackTraceLimit = usual;
  }
}

/** Processor time of this thread, as something else may have had the machine: the best of five counts. */
async function quickest(check: () => Promise<unknown>, enoughMs: number): Promise<number> {
  let best = Infinity;
  for (let tries = 0; tries < 5 && best > enoughMs; tries += 1) {
    const from = process.threadCpuUsage();
    await check();
    const { user, system } = process.threadCpuUsage(from);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

/** Edges that were passed for the first time, or for the first time that often (1, 2, 3, 4–7, 8–15, … times). */
function newsOf({ edges, edgeCount }: Feedback, seen: Uint16Array): number[] {
  const news: number[] = [];
  for (let edge = 0; edge < edgeCount; edge += 1) {
    const count = edges[edge] ?? 0;
    if (count === 0) continue;
    const bit = 1 << (count < 4 ? count - 1 : 32 - Math.clz32(count));
    const known = seen[edge] ?? 0;
    if ((known & bit) !== 0) continue;
    seen[edge] = known | bit;
    news.push(edge);
  }
  return news;
}

function passed({ edges, edgeCount }: Feedback): number[] {
  return Array.from({ length: edgeCount }, (_, edge) => edge).filter((edge) => edges[edge] !== 0);
}

/** Newer and smaller inputs more often than others; by no time, so that the same seed leads to the same inputs. */
function choose(kept: readonly Buffer[], below: (limit: number) => number): Buffer {
  const from = below(3) === 0 ? 0 : Math.max(0, kept.length - 1 - below(kept.length));
  const [first, second] = [0, 0].map(() => kept[from + below(kept.length - from)]) as [Buffer, Buffer];
  return first.length <= second.length ? first : second;
}

/** Few and small inputs that pass every edge (greedy). */
async function cover(kept: readonly Buffer[], trial: ReturnType<typeof createTrial>): Promise<Buffer[]> {
  const covered = new Set<number>();
  const chosen: Buffer[] = [];
  for (const bytes of [...kept].sort((a, b) => a.length - b.length)) {
    const edges = await trial.edgesOf(bytes);
    if (edges.every((edge) => covered.has(edge))) continue;
    edges.forEach((edge) => covered.add(edge));
    chosen.push(bytes);
  }
  return chosen;
}

const byText = (a: string | number, b: string | number) => (String(a) < String(b) ? -1 : 1);

function bytesOf(word: string | number): Buffer[] {
  if (typeof word === 'string') return word === '' || word.length > 64 ? [] : [Buffer.from(word, 'latin1')];
  if (!Number.isSafeInteger(word) || word < 0) return [];
  const size = [1, 2, 4].find((bytes) => word < 2 ** (8 * bytes));
  if (size === undefined) return [];
  const binary = Buffer.alloc(size);
  binary.writeUIntBE(word, 0, size);
  return size === 1 ? [binary] : [binary, Buffer.from(binary).reverse(), Buffer.from(String(word))];
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const place = (error.stack ?? '').split('\n').find((line) => /^\s+at .*\.ts:\d+/.test(line)) ?? '';
  return `${error.name}: ${error.message.slice(0, 300)} ${place.trim()}`.trim();
}

/** Findings that differ in numbers only are one. */
function keyOf(text: string): string {
  return text.replace(/\d+(?!:|\)|$)/g, '#');
}

export function nameOf(input: Buffer): string {
  return createHash('sha256').update(input).digest('hex').slice(0, 16);
}
