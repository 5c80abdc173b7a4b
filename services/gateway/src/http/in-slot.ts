import type { SlotKind } from '@vision/contracts/public-operations';
import type { Response } from 'express';
import { fail } from '@vision/contracts/errors';
import type { Caller } from '@vision/shared/http/caller';
import type { Deps } from '../use-cases/deps.ts';
import { addLimit } from './authenticate.ts';

export type SlotDeps = Pick<Deps, 'slots' | 'processorBudgets'> & {
  signals: Pick<Deps['signals'], 'limitDecided' | 'uploadBegan'>;
};

/** A request that needs a request slot of its subject. */
export interface SlotRequest {
  kind: SlotKind;
  caller: Caller;
  res: Response;
}

/**
 * Runs expensive work in a request slot of its subject and releases the slot, however the request ends. Slot and
 * processor budget are queried in one round trip.
 * @throws AppError OP-QUOTA-RATE-LIMITED when the processor budget is overdrawn or all slots are in use.
 */
export async function inSlot<T>(deps: SlotDeps, request: SlotRequest, work: () => Promise<T>): Promise<T> {
  const { kind, caller } = request;
  const limit = caller.limits?.[kind] ?? 0;
  // Downloads and streams need no processor time.
  const budget = isCharged(kind) ? deps.processorBudgets.waitFor(caller.subject) : undefined;
  // Awaited below; until then a failure must not count as unhandled.
  budget?.catch(() => undefined);
  const slot = await deps.slots.take(caller.subject, kind, limit);
  try {
    if (budget) assertBudget(deps, caller, await budget);
    deps.signals.limitDecided(kind, slot ? 'allowed' : 'refused', caller.subject);
    const policy = { name: kind, quota: limit, unit: 'concurrent-requests' } as const;
    addLimit(request.res, policy, { name: kind, remaining: slot?.remaining ?? 0 });
    if (!slot) throw fail.rateLimited('too_many_in_flight', 1, { limit: kind, allowed: limit });
    return await (isUpload(kind) ? asUpload(deps, work) : work());
  } finally {
    slot?.release();
  }
}

/** Whether the processor time of requests of this kind is charged. */
export const isCharged = (kind: SlotKind): boolean => isUpload(kind) || kind === 'stream_probes';

/** Whether requests of this kind bring content. */
const isUpload = (kind: SlotKind): boolean => kind === 'image_calls' || kind === 'video_uploads';

function assertBudget({ signals }: SlotDeps, { subject }: Caller, waitMs: number): void {
  signals.limitDecided('processor_time', waitMs === 0 ? 'allowed' : 'refused', subject);
  if (waitMs > 0) {
    throw fail.rateLimited('processor_time_exceeded', Math.ceil(waitMs / 1000), { limit: 'processor_time' });
  }
}

/** Counts the work as an upload in progress. */
async function asUpload<T>({ signals }: SlotDeps, work: () => Promise<T>): Promise<T> {
  const uploadEnded = signals.uploadBegan();
  try {
    return await work();
  } finally {
    uploadEnded();
  }
}
