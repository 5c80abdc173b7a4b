import type { Knex } from 'knex';
import { fail } from '@vision/shared/errors';
import type { CapacityReply } from '@vision/shared/contracts/inference';
import type { InferenceClient } from '@vision/shared/inference-client';
import type { Logger } from '@vision/shared/logger';
import { asUnavailable } from '@vision/shared/unavailable';
import { claimClock, giveUpPlace, grantPlaces, keepPlaces, letGoOfPlace, stopWaiting } from '../db/place-claims.ts';
import type { FreePlaces, PlaceClaim } from '../db/place-claims.ts';
import type { VideoKind } from '../domain/task.ts';
import type { PlaceAnswer, Signals } from '../signals.ts';

/** Places at the backend, which creates wait for before units are reserved. */
export interface Places {
  /**
   * Resolves when the create has a place, at once for a backend that does not tell of any.
   * @throws AppError OP-TASK-UPSTREAM-DOWN `inference_no_capacity` when there was none in time.
   */
  take: (claim: PlaceClaim) => Promise<void>;
  /**
   * For a create whose source comes first and takes long: resolves when there is room, and holds none. While there is
   * none it waits in the same line as those that take a place, so that no subject is passed over.
   * @throws AppError OP-TASK-UPSTREAM-DOWN `inference_no_capacity` when there was none in time.
   */
  awaitRoom: (claim: PlaceClaim) => Promise<void>;
  /** The day of a subject is full: its creates that wait go on without a place, to hear so from quota at once. */
  endWaits: (subject: string) => void;
  /** The create is over. Its place is counted by the backend when a job was `sent`, and free at once when none was. */
  letGo: (taskId: string, job: 'sent' | 'unsent') => void;
  /** One round for all that wait or hold a place in this process. @returns 0: the next one comes after the pause. */
  round: () => Promise<number>;
}

export interface PlacesDeps {
  db: Knex;
  logger: Logger;
  signals: Pick<Signals, 'placesWatched' | 'placeAnswered'>;
  inference: Pick<InferenceClient, 'readCapacity'>;
  /** Starts the next round at once. */
  wakeRounds: () => void;
  settings: PlacesSettings;
}

export interface PlacesSettings {
  /** Longest wait of a create for a place. */
  placeWaitMs: number;
  /** Creates that may wait in this process. */
  placeQueue: number;
  /** Percent of the places for subjects that have none. */
  placesKeptPercent: number;
}

/** An answer of the backend counts for so long. */
const CAPACITY_MS = 1_000;
/** A claim outlasts every answer that was asked for before its job was sent: that age, and the time of the question. */
const COUNTED_AFTER_MS = 2_500;
/** Rounds come every half second; a process that misses so many of them is dead, and what it claims is free again. */
const ALIVE_MS = 5_000;

/** @returns places shared by all replicas, by the table of claims; `round` has to be called while somebody waits */
export function createPlaces(deps: PlacesDeps): Places {
  const { db, logger } = deps;
  const capacity = createCapacity(deps);
  const line = createLine(deps, capacity);
  const held = new Set<string>();
  return {
    take: async (claim) => {
      if ((await capacity()).told === undefined) return;
      await line.stand(claim);
      held.add(claim.taskId);
    },
    awaitRoom: async (claim) => {
      const { told } = await capacity();
      if (told === undefined || isRoomFor(told, claim.kind)) return;
      await line.stand(claim);
      await giveUpPlace(db, claim.taskId);
      deps.wakeRounds();
    },
    endWaits: line.endWaits,
    letGo: (taskId, job) => {
      if (!held.delete(taskId)) return;
      const isOver =
        job === 'sent' ? letGoOfPlace(db, taskId, COUNTED_AFTER_MS) : giveUpPlace(db, taskId).then(deps.wakeRounds);
      isOver.catch((error: unknown) => {
        logger.warn({ err: error, task_id: taskId }, 'a place stays taken until its claim runs out');
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
  /** @throws AppError OP-TASK-UPSTREAM-DOWN `inference_no_capacity` when there was no place in time. */
  stand: (claim: PlaceClaim) => Promise<void>;
  endWaits: (subject: string) => void;
  round: () => Promise<void>;
}

function createLine({ db, settings, signals, wakeRounds }: PlacesDeps, capacity: () => Promise<Capacity>): Line {
  const waiting = new Map<string, { claim: PlaceClaim; end: (answer: PlaceAnswer) => void }>();
  /** Settles with the round that is under way: it may write the claim of a create that waits no longer. */
  let underWay: Promise<unknown> = Promise.resolve();
  signals.placesWatched((kind) => [...waiting.values()].filter(({ claim }) => claim.kind === kind).length);

  const waitForPlace = async (claim: PlaceClaim): Promise<PlaceAnswer> => {
    const { promise, resolve } = Promise.withResolvers<PlaceAnswer>();
    waiting.set(claim.taskId, { claim, end: resolve });
    const timer = setTimeout(() => resolve('refused'), settings.placeWaitMs);
    wakeRounds();
    const answer = await promise;
    clearTimeout(timer);
    waiting.delete(claim.taskId);
    await underWay;
    // It may have been granted in a round of another replica.
    return answer === 'refused' && (await stopWaiting(db, claim.taskId)) ? 'granted' : answer;
  };
  const grant = async () => {
    const { told, askedAt } = await capacity();
    const places = told ? freePlaces(told, settings.placesKeptPercent) : everywhere;
    const claims = [...waiting.values()].map(({ claim }) => claim);
    const granted = await grantPlaces(db, { waiting: claims, places, askedAt, aliveMs: ALIVE_MS });
    for (const taskId of granted) waiting.get(taskId)?.end('granted');
  };
  return {
    stand: async (claim) => {
      const from = performance.now();
      const answer = waiting.size < settings.placeQueue ? await waitForPlace(claim) : 'refused';
      signals.placeAnswered({ task_id: claim.taskId, kind: claim.kind, waitedMs: performance.now() - from }, answer);
      if (answer === 'refused') throw fail.upstreamDown('inference_no_capacity');
    },
    endWaits: (subject) => {
      for (const { claim, end } of waiting.values()) if (claim.subject === subject) end('unneeded');
    },
    round: async () => {
      if (waiting.size === 0) return;
      const round = grant();
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

interface Capacity {
  /** Undefined when the backend does not tell, or cannot be asked now: then a submission tells. */
  told: CapacityReply | undefined;
  askedAt: string;
}

/** What the backend said last. */
function createCapacity({ db, inference, logger }: PlacesDeps): () => Promise<Capacity> {
  let last: { askedAtMs: number; answer: Promise<Capacity> } | undefined;
  const ask = async (): Promise<Capacity> => {
    const askedAt = await claimClock(db);
    const told = await inference.readCapacity().catch((error: unknown) => {
      if (!asUnavailable(error)) throw error;
      logger.debug({ err: error }, 'the backend cannot be asked for its capacity');
      return undefined;
    });
    return { told, askedAt };
  };
  return () => {
    if (last && performance.now() - last.askedAtMs <= CAPACITY_MS) return last.answer;
    const answer = ask();
    last = { askedAtMs: performance.now(), answer };
    // The next one asks anew when the database could not be asked.
    answer.catch(() => (last = undefined));
    return answer;
  };
}
