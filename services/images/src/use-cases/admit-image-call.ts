import type { Knex } from 'knex';
import { defaultLimits } from '@vision/shared/contracts/limits';
import { fail } from '@vision/shared/errors';
import type { Caller } from '@vision/shared/http/caller';
import type { InferenceClient } from '@vision/shared/inference-client';
import type { QuotaClient } from '@vision/shared/quota-client';
import { findKey } from '../db/idempotency-keys.ts';
import type { Clock } from '../db/idempotency-keys.ts';

export interface AdmissionDeps {
  db: Knex;
  clock: Clock;
  quota: QuotaClient;
  inference: Pick<InferenceClient, 'assertAccepting'>;
}

/** Whether new work is taken from this caller now. */
export interface Admission {
  /** @throws the refusal when it is not, as far as this process knows; whether units are left the reservation tells. */
  assertAccepting: () => void;
  /** Rejects as soon as it is known that new work is refused; otherwise never settles. */
  refused: Promise<never>;
  /** Waits for an answer that is on its way: resolves when new work is taken or the question was not asked. */
  decided: () => Promise<void>;
}

/**
 * Decides before the body is read whether to read it. A key that is known passes: replays work during maintenance, with the
 * breaker open and with nothing left of the day.
 */
export async function admitImageCall(deps: AdmissionDeps, caller: Caller, key: string): Promise<Admission> {
  const isKnown = async () => (await findKey(deps.db, deps.clock, { subject: caller.subject, key })) !== undefined;
  const assertAccepting = () => assertAcceptsNew(deps, caller);
  const verdict = (await isKnown())
    ? Promise.resolve()
    : assertUnitsLeft(deps, caller).catch(async (refusal: unknown) => {
        // The same call may have begun elsewhere since, and taken what is left of the day: then this one is a replay.
        if (!(await isKnown().catch(() => false))) throw refusal;
      });
  const refused = verdict.then(() => new Promise<never>(() => undefined));
  refused.catch(() => undefined);
  return { assertAccepting, refused, decided: () => verdict };
}

function assertAcceptsNew({ inference }: AdmissionDeps, { maintenance }: Caller): void {
  if (maintenance) throw fail.maintenance();
  inference.assertAccepting('detect');
}

async function assertUnitsLeft(deps: AdmissionDeps, caller: Caller): Promise<void> {
  assertAcceptsNew(deps, caller);
  const { image } = await deps.quota.usage(caller.subject, caller.limits ?? defaultLimits);
  if (image.remaining < 1) throw fail.dailyExhausted({ ...image, requested: 1 });
}
