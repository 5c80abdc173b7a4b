import type { CapacityReply } from '@vision/contracts/inference';
import { asAppError, fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import { giveUpPlace, grantPlaces, keepPlaces, letGoOfPlace, stopWaiting } from '../../db/place-claims.ts';
import type { FreePlaces, PlaceClaim } from '../../db/place-claims.ts';
import type { VideoKind } from '../../domain/task.ts';
import type { PlaceAnswer, Signals } from '../../signals.ts';
import { MAX_QUESTION_MS } from './answer-time.ts';
import type { AnswerTime } from './answer-time.ts';
import { CAPACITY_MS, createCapacity } from './capacity.ts';
import type { Capacity, CapacityDeps } from './capacity.ts';

/** Places at the backend, which creates wait for before units are reserved. */
export interface CapacitySlots {
  /**
   * Resolves when the create has a place, at once for a backend that does not tell of any. Gives the optional parts of
   * the contract that the backend has named.
   * @throws AppError OP-TASK-UPSTREAM-DOWN `inference_no_capacity` when there was none in time, `inference_unreachable`
   * when the backend did not answer in time; OP-TASK-BREAKER-OPEN.
   */
  take: (claim: PlaceClaim, time: AnswerTime) => Promise<readonly string[]>;
  /**
   * For a create whose source comes first and takes long: resolves when there is room, and holds none. While there is
   * none it waits in the same line as those that take a place, so that no subject is passed over.
   * @throws AppError as `take`.
   */
  awaitRoom: (claim: PlaceClaim, time: AnswerTime) => Promise<void>;
  /**
   * What the backend said of its capacity, a second ago at most; undefined for a backend that does not tell.
   * @throws AppError as `take`.
   */
  capacity: () => Promise<CapacityReply | undefined>;
  /** The subject has no units left today: its requests that wait for a place go on, and quota refuses them at once. */
  endWaits: (subject: string) => void;
  /** The create is over. Its place is counted by the backend when a job was `sent`, and free at once when none was. */
  release: (taskId: string, job: 'sent' | 'unsent') => void;
  /** One round for all that wait or hold a place in this process. @returns 0: the next one comes after the pause. */
  round: () => Promise<number>;
}

export interface CapacitySlotsDeps extends CapacityDeps {
  signals: Pick<Signals, 'placesWatched' | 'placeAnswered'>;
  /** Starts the next round at once. */
  wakeRounds: () => void;
  settings: CapacitySlotsSettings;
}

export interface CapacitySlotsSettings {
  /** Longest wait of one create for the answer to one question of the backend. */
  questionLimitMs: number;
  /** Longest wait of a create for a place. */
  placeWaitMs: number;
  /** Creates that may wait in this process. */
  placeQueue: number;
  /** Percent of the places for subjects that have none. */
  placesKeptPercent: number;
}

/** A claim outlasts every answer that was asked for before its job was sent: that age, and the time of the question. */
const COUNTED_AFTER_MS = CAPACITY_MS + MAX_QUESTION_MS + 500;
/** Rounds come every half second; a process that misses so many of them is dead, and what it claims is free again. */
const ALIVE_MS = 5_000;

/** @returns places shared by all replicas, by the table of claims; `round` has to be called while somebody waits */
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
      await giveUpPlace(db, claim.taskId);
      deps.wakeRounds();
    },
    capacity: async () => (await capacity()).reply,
    endWaits: line.endWaits,
    release: (taskId, job) => {
      if (!held.delete(taskId)) return;
      const isOver =
        job === 'sent' ? letGoOfPlace(db, taskId, COUNTED_AFTER_MS) : giveUpPlace(db, taskId).then(deps.wakeRounds);
      isOver.catch((error: unknown) => {
        logger.warn({ err: error, task_id: taskId }, 'capacity slot not released; it is free when its claim expires');
      });
    },
    round: async () => {
      if (held.size > 0) await keepPlaces(db, [...held], ALIVE_MS);
      await line.round();
      return 0;
    },
  };
}

/** Creates of this process that wait for a place. */
interface Line {
  /** @throws AppError as `take`. */
  stand: (claim: PlaceClaim) => Promise<void>;
  endWaits: (subject: string) => void;
  round: () => Promise<void>;
}

/** How a wait ended; a create that is refused gets the error. */
interface WaitEnd {
  answer: PlaceAnswer;
  error?: AppError | undefined;
}

const noPlace = (): WaitEnd => ({ answer: 'refused', error: fail.upstreamDown('inference_no_capacity') });

function createLine({ db, settings, signals, wakeRounds }: CapacitySlotsDeps, capacity: () => Promise<Capacity>): Line {
  const waiting = new Map<string, { claim: PlaceClaim; end: (end: WaitEnd) => void }>();
  /** Settles with the round that is under way: it may write the claim of a create that waits no longer. */
  let underWay: Promise<unknown> = Promise.resolve();
  signals.placesWatched((kind) => [...waiting.values()].filter(({ claim }) => claim.kind === kind).length);

  const waitForPlace = async (claim: PlaceClaim): Promise<WaitEnd> => {
    const { promise, resolve } = Promise.withResolvers<WaitEnd>();
    waiting.set(claim.taskId, { claim, end: resolve });
    const timer = setTimeout(() => resolve(noPlace()), settings.placeWaitMs);
    wakeRounds();
    const ended = await promise;
    clearTimeout(timer);
    waiting.delete(claim.taskId);
    await underWay;
    // It may have been granted in a round of another replica.
    return ended.error && (await stopWaiting(db, claim.taskId)) ? { answer: 'granted' } : ended;
  };
  /** A backend that is silent, or whose breaker is open, refuses all that wait: no place can come from it. */
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
    const places = reply ? freePlaces(reply, settings.placesKeptPercent) : everywhere;
    const claims = [...waiting.values()].map(({ claim }) => claim);
    const granted = await grantPlaces(db, { waiting: claims, places, askedAt, aliveMs: ALIVE_MS });
    for (const taskId of granted) waiting.get(taskId)?.end({ answer: 'granted' });
  };
  return {
    stand: async (claim) => {
      const from = performance.now();
      const { answer, error } = waiting.size < settings.placeQueue ? await waitForPlace(claim) : noPlace();
      signals.placeAnswered({ task_id: claim.taskId, kind: claim.kind, waitedMs: performance.now() - from }, answer);
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

function freePlaces({ free, places }: CapacityReply, keptPercent: number): FreePlaces[] {
  const kept = (count: number) => Math.floor((count * keptPercent) / 100);
  return [
    { kind: 'stream', free: free.stream, kept: kept(places.stream) },
    { kind: 'upload', free: free.object, kept: kept(places.object) },
  ];
}

/** A backend that has stopped telling: what it can take it says to a submission. */
const everywhere: FreePlaces[] = (['stream', 'upload'] satisfies VideoKind[]).map((kind) => ({
  kind,
  free: 1_000_000,
  kept: 0,
}));
