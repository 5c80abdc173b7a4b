import type { Knex } from 'knex';
import { defaultLimits } from '@vision/shared/contracts/limits';
import { fail } from '@vision/shared/errors';
import type { Caller } from '@vision/shared/http/caller';
import type { InferenceClient } from '@vision/shared/inference-client';
import type { QuotaClient } from '../clients/quota.ts';
import { findKey } from '../db/idempotency-keys.ts';
import type { Clock } from '../db/idempotency-keys.ts';
import { exhausted } from './refusals.ts';

export interface AdmissionDeps {
  db: Knex;
  clock: Clock;
  quota: QuotaClient;
  inference: Pick<InferenceClient, 'assertAccepting'>;
}

/** Whether new work is taken from this caller now; asked once, and only for a call that may be new. */
export interface Admission {
  /** Resolves when it is; rejects with the refusal. The question is asked at the first call at the latest. */
  granted: () => Promise<void>;
  /** Rejects as soon as it is known that new work is refused; otherwise never settles. */
  refused: Promise<never>;
  /** Waits for an answer that is on its way: resolves when new work is taken or the question was never asked. */
  decided: () => Promise<void>;
}

/**
 * Decides before the body is read whether to read it. A key that is known passes: replays work during maintenance, with the
 * breaker open and with nothing left of the day.
 */
export async function admitImageCall(deps: AdmissionDeps, caller: Caller, key: string): Promise<Admission> {
  const isKnown = async () => (await findKey(deps.db, deps.clock, { subject: caller.subject, key })) !== undefined;
  const admission = createAdmission(() => assertAccepting(deps, caller));
  if (!(await isKnown())) admission.begin(isKnown);
  return admission;
}

function createAdmission(ask: () => Promise<void>): Admission & { begin: (isKnown: () => Promise<boolean>) => void } {
  let asked: Promise<void> | undefined;
  let reject: (refusal: unknown) => void = () => undefined;
  const refused = new Promise<never>((_resolve, refuse) => {
    reject = refuse;
  });
  refused.catch(() => undefined);
  const granted = () => {
    asked ??= ask();
    return asked;
  };
  const begin = (isKnown: () => Promise<boolean>) => {
    granted().catch(async (refusal: unknown) => {
      // The same call may have begun elsewhere since, and taken what is left of the day: then this one is a replay.
      const known = await isKnown().catch(() => false);
      if (known) asked = undefined;
      else reject(refusal);
    });
  };
  return { granted, refused, decided: () => asked ?? Promise.resolve(), begin };
}

async function assertAccepting(deps: AdmissionDeps, caller: Caller): Promise<void> {
  if (caller.maintenance) throw fail.maintenance();
  deps.inference.assertAccepting('detect');
  const limits = caller.limits ?? defaultLimits;
  const { image } = await deps.quota.usage(caller.subject, {
    video: limits.video_tasks_per_day,
    image: limits.images_per_day,
  });
  if (image.remaining > 0) return;
  throw exhausted({ limit: image.limit, used: image.used, requested: 1, resets_at: image.resets_at });
}
