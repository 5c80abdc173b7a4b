import { setTimeout as delay } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { fail } from '@vision/shared/errors';
import type { Scenes } from '@vision/shared/scenes';
import { claimKey, findKey } from '../db/idempotency-keys.ts';
import type { KeyRow } from '../db/idempotency-keys.ts';
import { findImageCall, findImages } from '../db/image-calls.ts';
import { fingerprintOf } from '../domain/fingerprint.ts';
import { reservationId } from '../domain/image-call.ts';
import type { ImageCall, ImageEntry } from '../domain/image-call.ts';
import { takeOverDeadCall } from './recover-dead-calls.ts';
import { runImageCall } from './run-image-call.ts';
import type { ReceivedImage, RunDeps } from './run-image-call.ts';

export type CreateDeps = RunDeps & {
  scenes: Pick<Scenes, 'findEnabled'>;
  /** Longest wait for another call with the same key, in milliseconds. */
  keyWaitMs: number;
};

export interface CreateImageDetection {
  subject: string;
  /** Images a day that the subject may have detected. */
  dailyLimit: number;
  /** Lower-case Idempotency-Key, and as it was sent. */
  key: string;
  requestId: string;
  sceneCode: string;
  images: ReceivedImage[];
  /** Throws when no new work is taken; not asked for replays. */
  assertAccepting: () => void;
  /** Ends the wait for another call; work that has begun is finished. */
  signal: AbortSignal;
}

export interface FinishedCall {
  call: ImageCall;
  entries: ImageEntry[];
  replayed: boolean;
}

/**
 * One image call under its idempotency key: the first with a key does the work, the others get its outcome. While another
 * call works on the key this one looks again and again, without holding a connection; when that call fails, the key is free
 * and this one works itself.
 */
export async function createImageDetection(deps: CreateDeps, input: CreateImageDetection): Promise<FinishedCall> {
  const fingerprint = fingerprintOf(input.sceneCode, input.images);
  const deadline = performance.now() + deps.keyWaitMs;
  for (let round = 0; ; round += 1) {
    const known = await findKey(deps.db, deps.clock, input);
    if (!known) {
      const finished = await workUnderNewKey(deps, input, fingerprint);
      if (finished) return finished;
    } else if (known.isDead) {
      await takeOverDeadCall(deps, known.task_id);
    } else if (known.fingerprint !== fingerprint) {
      throw fail.keyReused();
    } else if (known.state === 'done') {
      return replay(deps, known);
    } else {
      if (performance.now() >= deadline) throw fail.sysUnavailable('first_call_still_running', undefined, 5);
      await delay(Math.min(25 * 2 ** round, 200) * (0.75 + Math.random() / 2), undefined, { signal: input.signal });
    }
  }
}

/** Undefined when another call took the key first. */
async function workUnderNewKey(
  deps: CreateDeps,
  input: CreateImageDetection,
  fingerprint: string,
): Promise<FinishedCall | undefined> {
  const scene = deps.scenes.findEnabled(input.sceneCode);
  if (!scene) throw fail.sceneUnavailable(input.sceneCode.slice(0, 64));
  input.assertAccepting();
  const taskId = uuidv7();
  const claim = await claimKey(deps.db, deps.clock, {
    leaseMs: deps.leaseMs,
    input: {
      subject: input.subject,
      key: input.key,
      taskId,
      requestId: input.requestId,
      fingerprint,
      sceneCode: scene.scene_code,
      imagesTotal: input.images.length,
      reservationId: reservationId(taskId, 1),
    },
  });
  if (!claim) return undefined;
  const { images, dailyLimit } = input;
  return { ...(await runImageCall(deps, claim, { images, dailyLimit, scene })), replayed: false };
}

async function replay(deps: CreateDeps, known: KeyRow): Promise<FinishedCall> {
  const taskId = known.task_id;
  const [call, entries] = await Promise.all([
    findImageCall(deps.db, deps.clock, { subject: known.subject, taskId }),
    findImages(deps.db, taskId),
  ]);
  if (!call) throw fail.sysUnavailable('result_expiring');
  deps.signals.callReplayed();
  return { call, entries, replayed: true };
}
