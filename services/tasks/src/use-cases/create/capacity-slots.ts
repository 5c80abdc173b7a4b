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

/** Slots at the backend; create requests wait for one before units are reserved. */
export interface CapacitySlots {
  /**
   * Resolves when the create request has a slot, at once if the backend does not report capacity. Returns the optional
   * features that the backend has reported.
   * @throws AppError OP-TASK-UPSTREAM-DOWN `inference_no_capacity` when no slot became free in time,
   * `inference_unreachable` when the backend did not answer in time; OP-TASK-BREAKER-OPEN.
   */
  take: (claim: SlotClaim, time: AnswerTime) => Promise<readonly string[]>;
  /**
   * For a create request that first receives a slow source: resolves when a slot is free, without holding it. Until
   * then it waits in the same queue as requests that take a slot, so that no subject is passed over.
   * @throws AppError like `take`.
   */
  awaitRoom: (claim: SlotClaim, time: AnswerTime) => Promise<void>;
  /**
   * The capacity reported by the backend, at most a second old; undefined if it reports none.
   * @throws AppError like `take`.
   */
  capacity: () => Promise<CapacityReply | undefined>;
  /** Ends the waits of a subject without units left today: its requests continue, and quota refuses them at once. */
  endWaits: (subject: string) => void;
  /**
   * Ends the claim of a create request. The backend counts the slot of a `sent` job; without a job the slot is free at
   * once.
   */
  release: (taskId: string, job: 'sent' | 'unsent') => void;
  /**
   * One round for all requests of this process that wait for or hold a slot. @returns 0: the next one comes after the
   * pause.
   */
  round: () => Promise<number>;
}

export interface CapacitySlotsDeps extends CapacityDeps {
  signals: Pick<Signals, 'observeSlotWaits' | 'slotAnswered'>;
  /** Starts the next round at once. */
  wakeRounds: () => void;
  settings: CapacitySlotsSettings;
}

export interface CapacitySlotsSettings {
  /** Maximum wait of a create request for the answer to one query of the backend. */
  questionLimitMs: number;
  /** Maximum wait of a create request for a slot. */
  slotWaitMs: number;
  /** Maximum number of create requests that wait in this process. */
  slotQueue: number;
  /** Percentage of the slots kept for subjects without a slot. */
  slotsKeptPercent: number;
}

/**
 * A claim outlives every capacity answer that was requested before its job was sent: its age, and the time of the
 * query.
 */
const COUNTED_AFTER_MS = CAPACITY_MS + MAX_QUESTION_MS + 500;
/** Rounds run every half second; a process that misses this many is dead, and its claims expire. */
const ALIVE_MS = 5_000;

/** @returns slots shared by all replicas through the table of claims; `round` must be called while requests wait */
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

/** Create requests of this process that wait for a slot. */
interface Line {
  /** @throws AppError like `take`. */
  stand: (claim: SlotClaim) => Promise<void>;
  endWaits: (subject: string) => void;
  round: () => Promise<void>;
}

/** Outcome of a wait; a refused create request gets the error. */
interface WaitEnd {
  answer: SlotAnswer;
  error?: AppError | undefined;
}

const noSlot = (): WaitEnd => ({ answer: 'refused', error: fail.upstreamDown('inference_no_capacity') });

function createLine({ db, settings, signals, wakeRounds }: CapacitySlotsDeps, capacity: () => Promise<Capacity>): Line {
  const waiting = new Map<string, { claim: SlotClaim; end: (end: WaitEnd) => void }>();
  /** Settles with the current round, which may still write the claim of a create request that no longer waits. */
  let underWay: Promise<unknown> = Promise.resolve();
  signals.observeSlotWaits((kind) => [...waiting.values()].filter(({ claim }) => claim.kind === kind).length);

  const waitForSlot = async (claim: SlotClaim): Promise<WaitEnd> => {
    const { promise, resolve } = Promise.withResolvers<WaitEnd>();
    waiting.set(claim.taskId, { claim, end: resolve });
    const timer = setTimeout(() => resolve(noSlot()), settings.slotWaitMs);
    wakeRounds();
    const ended = await promise;
    clearTimeout(timer);
    waiting.delete(claim.taskId);
    await underWay;
    // A round of another replica may have granted it.
    return ended.error && (await stopWaiting(db, claim.taskId)) ? { answer: 'granted' } : ended;
  };
  /** If the backend is silent or its breaker is open, all waiting requests are refused: it cannot grant a slot. */
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

/** For a backend that no longer reports its capacity: it refuses a submission beyond its capacity. */
const everywhere: FreeSlots[] = (['stream', 'upload'] satisfies VideoKind[]).map((kind) => ({
  kind,
  free: 1_000_000,
  kept: 0,
}));
