import type { CapacityReply } from '@vision/contracts/inference';
import { asAppError, fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import { expireSlot, grantSlots, releaseSlot, renewSlots, stopWaiting } from '../../db/slot-claims.ts';
import type { FreeSlots, SlotClaim } from '../../db/slot-claims.ts';
import type { VideoKind } from '../../domain/task.ts';
import type { SlotAnswer, Signals } from '../../signals.ts';
import { MAX_QUESTION_MS } from './answer-time.ts';
import type { AnswerTime } from './answer-time.ts';
import { CAPACITY_MS, createCapacity } from './capacity.ts';
import type { Capacity, CapacityDeps } from './capacity.ts';

/** Slots at the backend, which creates wait for before units are reserved. */
export interface CapacitySlots {
  /**
   * Resolves when the create has a slot, at once for a backend that does not tell of any. Gives the optional parts of
   * the contract that the backend has named.
   * @throws AppError OP-TASK-UPSTREAM-DOWN `inference_no_capacity` when there was none in time, `inference_unreachable`
   * when the backend did not answer in time; OP-TASK-BREAKER-OPEN.
   */
  take: (claim: SlotClaim, time: AnswerTime) => Promise<readonly string[]>;
  /**
   * For a create whose source comes first and takes long: resolves when there is room, and holds none. While there is
   * none it waits in the same line as those that take a slot, so that no subject is passed over.
   * @throws AppError as `take`.
   */
  awaitRoom: (claim: SlotClaim, time: AnswerTime) => Promise<void>;
  /**
   * What the backend said of its capacity, a second ago at most; undefined for a backend that does not tell.
   * @throws AppError as `take`.
   */
  capacity: () => Promise<CapacityReply | undefined>;
  /** The subject has no units left today: its requests that wait for a slot go on, and quota refuses them at once. */
  endWaits: (subject: string) => void;
  /** The create is over. Its slot is counted by the backend when a job was `sent`, and free at once when none was. */
  release: (taskId: string, job: 'sent' | 'unsent') => void;
  /** One round for all that wait or hold a slot in this process. @returns 0: the next one comes after the pause. */
  round: () => Promise<number>;
}

export interface CapacitySlotsDeps extends CapacityDeps {
  signals: Pick<Signals, 'slotWaitsWatched' | 'slotAnswered'>;
  /** Starts the next round at once. */
  wakeRounds: () => void;
  settings: CapacitySlotsSettings;
}

export interface CapacitySlotsSettings {
  /** Longest wait of one create for the answer to one question of the backend. */
  questionLimitMs: number;
  /** Longest wait of a create for a slot. */
  slotWaitMs: number;
  /** Creates that may wait in this process. */
  slotQueue: number;
  /** Percent of the slots for subjects that have none. */
  slotsKeptPercent: number;
}

/** A claim outlasts every answer that was asked for before its job was sent: that age, and the time of the question. */
const COUNTED_AFTER_MS = CAPACITY_MS + MAX_QUESTION_MS + 500;
/** Rounds come every half second; a process that misses so many of them is dead, and what it claims is free again. */
const ALIVE_MS = 5_000;

/** @returns slots shared by all replicas, by the table of claims; `round` has to be called while somebody waits */
export function createCapacitySlots(deps: CapacitySlotsDeps): CapacitySlots {
  const { db, logger } = deps;
  const capacity = createCapacity(deps);
  const line = createLine(deps, capacity);
  const held = new Set<string>();
  return {
    take: async (claim, time) => {
      const { reply } = await time.spend(capacity);
      if (reply === undefined) return [];
      await line.stand(claim);
      held.add(claim.taskId);
      return reply.features ?? [];
    },
    awaitRoom: async (claim, time) => {
      const { reply } = await time.spend(capacity);
      if (reply === undefined || isRoomFor(reply, claim.kind)) return;
      await line.stand(claim);
      await releaseSlot(db, claim.taskId);
      deps.wakeRounds();
    },
    capacity: async () => (await capacity()).reply,
    endWaits: line.endWaits,
    release: (taskId, job) => {
      if (!held.delete(taskId)) return;
      const isOver =
        job === 'sent' ? expireSlot(db, taskId, COUNTED_AFTER_MS) : releaseSlot(db, taskId).then(deps.wakeRounds);
      isOver.catch((error: unknown) => {
        logger.warn({ err: error, task_id: taskId }, 'capacity slot not released; it is free when its claim expires');
      });
    },
    round: async () => {
      if (held.size > 0) await renewSlots(db, [...held], ALIVE_MS);
      await line.round();
      return 0;
    },
  };
}

/** Creates of this process that wait for a slot. */
interface Line {
  /** @throws AppError as `take`. */
  stand: (claim: SlotClaim) => Promise<void>;
  endWaits: (subject: string) => void;
  round: () => Promise<void>;
}

/** How a wait ended; a create that is refused gets the error. */
interface WaitEnd {
  answer: SlotAnswer;
  error?: AppError | undefined;
}

const noSlot = (): WaitEnd => ({ answer: 'refused', error: fail.upstreamDown('inference_no_capacity') });

function createLine({ db, settings, signals, wakeRounds }: CapacitySlotsDeps, capacity: () => Promise<Capacity>): Line {
  const waiting = new Map<string, { claim: SlotClaim; end: (end: WaitEnd) => void }>();
  /** Settles with the round that is under way: it may write the claim of a create that waits no longer. */
  let underWay: Promise<unknown> = Promise.resolve();
  signals.slotWaitsWatched((kind) => [...waiting.values()].filter(({ claim }) => claim.kind === kind).length);

  const waitForSlot = async (claim: SlotClaim): Promise<WaitEnd> => {
    const { promise, resolve } = Promise.withResolvers<WaitEnd>();
    waiting.set(claim.taskId, { claim, end: resolve });
    const timer = setTimeout(() => resolve(noSlot()), settings.slotWaitMs);
    wakeRounds();
    const ended = await promise;
    clearTimeout(timer);
    waiting.delete(claim.taskId);
    await underWay;
    // It may have been granted in a round of another replica.
    return ended.error && (await stopWaiting(db, claim.taskId)) ? { answer: 'granted' } : ended;
  };
  /** A backend that is silent, or whose breaker is open, refuses all that wait: no slot can come from it. */
  const askAgain = async (): Promise<Capacity | undefined> => {
    try {
      return await capacity();
    } catch (caught) {
      const error = asAppError(caught);
      if (!error) throw caught;
      for (const { end } of waiting.values()) end({ answer: 'unanswered', error });
      return undefined;
    }
  };
  const grant = async ({ reply, askedAt }: Capacity) => {
    const slots = reply ? freeSlotsOf(reply, settings.slotsKeptPercent) : everywhere;
    const claims = [...waiting.values()].map(({ claim }) => claim);
    const granted = await grantSlots(db, { waiting: claims, slots, askedAt, aliveMs: ALIVE_MS });
    for (const taskId of granted) waiting.get(taskId)?.end({ answer: 'granted' });
  };
  return {
    stand: async (claim) => {
      const from = performance.now();
      const { answer, error } = waiting.size < settings.slotQueue ? await waitForSlot(claim) : noSlot();
      signals.slotAnswered({ task_id: claim.taskId, kind: claim.kind, waitedMs: performance.now() - from }, answer);
      if (error) throw error;
    },
    endWaits: (subject) => {
      for (const { claim, end } of waiting.values()) if (claim.subject === subject) end({ answer: 'unneeded' });
    },
    round: async () => {
      if (waiting.size === 0) return;
      const known = await askAgain();
      if (!known || waiting.size === 0) return;
      const round = grant(known);
      underWay = round.catch(() => undefined);
      await round;
    },
  };
}

const isRoomFor = ({ free }: CapacityReply, kind: VideoKind) => (kind === 'stream' ? free.stream : free.object) > 0;

function freeSlotsOf({ free, places }: CapacityReply, keptPercent: number): FreeSlots[] {
  const kept = (count: number) => Math.floor((count * keptPercent) / 100);
  return [
    { kind: 'stream', free: free.stream, kept: kept(places.stream) },
    { kind: 'upload', free: free.object, kept: kept(places.object) },
  ];
}

/** A backend that has stopped telling: what it can take it says to a submission. */
const everywhere: FreeSlots[] = (['stream', 'upload'] satisfies VideoKind[]).map((kind) => ({
  kind,
  free: 1_000_000,
  kept: 0,
}));
