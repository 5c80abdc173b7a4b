import { setTimeout as delay } from 'node:timers/promises';
import { asAppError } from '@vision/contracts/errors';
import { createLogger } from '@vision/shared/logger';
import type { SlotClaim } from '../../../services/tasks/src/db/slot-claims.ts';
import { createAnswerTime } from '../../../services/tasks/src/use-cases/create/answer-time.ts';
import { createCapacitySlots } from '../../../services/tasks/src/use-cases/create/capacity-slots.ts';
import type { Stage } from '../world.ts';
import type { Backend } from './places-backend.ts';

/** What a replica of tasks does with capacity slots. */
export interface Replica {
  /** Waits for a slot and uses it: submits a job, or gives the slot back. */
  create: (claim: SlotClaim, job: 'sent' | 'unsent') => Promise<void>;
  /** Gives slots to those that wait, again and again until it is stopped. */
  rounds: () => Promise<void>;
  stop: () => void;
  /** Creates that have a slot and no job yet. */
  granted: () => number;
  /** Subjects without a slot that were passed over although one was free. */
  starving: () => string[];
  isDead: () => boolean;
}

interface ReplicaOptions {
  name: string;
  livesFor: number | undefined;
  backend: Backend;
  keptPercent: number;
}

const logger = createLogger('simulation', 'silent');
const SUBMIT_MS = 30_000;
/** As the loop of the service. */
const ROUND_MS = 500;
/** So old may the last answer of the backend be that a round goes by. */
const STALE_MS = 1_000;
/** In so many rounds with a free slot somebody who has none gets it. */
const PATIENCE_ROUNDS = 3;

export async function startReplica(
  stage: Stage,
  { name, livesFor, backend, keptPercent }: ReplicaOptions,
): Promise<Replica> {
  const process = await stage.start(name, livesFor);
  const nowMs = () => stage.time.now().getTime();
  const waiting = new Map<SlotClaim, { sinceMs: number; rounds: number }>();
  const granted = new Set<SlotClaim>();
  let isStopped = false;
  const places = createCapacitySlots({
    db: process.db,
    logger,
    inference: {
      readCapacity: async () => {
        await process.step('ask for capacity');
        return backend.capacity();
      },
    },
    signals: { observeSlotWaits: () => undefined, slotAnswered: () => undefined },
    wakeRounds: () => undefined,
    settings: { questionLimitMs: 2_000, slotWaitMs: 5_000, slotQueue: 10, slotsKeptPercent: keptPercent },
  });
  const isWithout = ({ subject }: SlotClaim) =>
    backend.runs(subject) === 0 && ![...granted].some((claim) => claim.subject === subject);
  const countRound = (begunMs: number) => {
    const freeSinceMs = backend.freeSinceMs() ?? Infinity;
    for (const [claim, wait] of waiting) {
      const isFair = isWithout(claim) && begunMs >= Math.max(freeSinceMs, wait.sinceMs) + STALE_MS;
      wait.rounds = isFair ? wait.rounds + 1 : 0;
    }
  };
  return {
    create: async (claim, job) => {
      const time = createAnswerTime(SUBMIT_MS);
      /** After its question it stands in line. */
      const spend: typeof time.spend = async (question) => {
        const answer = await time.spend(question);
        waiting.set(claim, { sinceMs: nowMs(), rounds: 0 });
        return answer;
      };
      try {
        await places.take(claim, { ...time, spend }).finally(() => waiting.delete(claim));
        granted.add(claim);
        await process.step(`job ${job}`);
        if (job === 'sent') await backend.begin(process.db, claim.subject);
        places.release(claim.taskId, job);
      } catch (error) {
        if (asAppError(error)?.reason !== 'inference_no_capacity') throw error;
      } finally {
        granted.delete(claim);
      }
    },
    rounds: async () => {
      while (!isStopped) {
        const begunMs = nowMs();
        await places.round();
        countRound(begunMs);
        await delay(ROUND_MS);
      }
    },
    stop: () => void (isStopped = true),
    granted: () => granted.size,
    starving: () => [...waiting].filter(([, { rounds }]) => rounds >= PATIENCE_ROUNDS).map(([{ subject }]) => subject),
    isDead: process.isDead,
  };
}
