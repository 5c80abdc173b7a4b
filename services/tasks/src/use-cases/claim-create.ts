import { setTimeout as delay } from 'node:timers/promises';
import { fail } from '@vision/shared/errors';
import { claimKey, findKey, freeKey } from '../db/idempotency-keys.ts';
import type { Claim, KeyRow } from '../db/idempotency-keys.ts';
import { findTask } from '../db/tasks.ts';
import { TASKS } from '../db/task-row.ts';
import type { Task } from '../domain/task.ts';
import type { Deps } from './deps.ts';

type ClaimDeps = Pick<Deps, 'db' | 'clock' | 'box' | 'limits'>;

/** Meaning of a create as text; what it is compared by. */
export interface Meaning {
  text: string;
}

const POLL_MS = 150;
const LABEL = 'fingerprint';

/**
 * Takes the key for this request, or gives the task it stands for. While another request works on the key this one waits,
 * without a database connection; should that one fail, this one takes over, `claimed late`: what was found out before may have
 * changed since.
 * `look` never takes it: `claimed` then says that nobody has it any more.
 * @throws AppError OP-TASK-REQUEST-INVALID `idempotency_key_reused`; OP-SYS-UNAVAILABLE after `keyWaitMs`.
 */
export async function claimCreate(
  deps: ClaimDeps,
  claim: Claim,
  meaning: Meaning,
  mode: 'take' | 'look' = 'take',
): Promise<'claimed' | 'claimed late' | Task> {
  const deadline = Date.now() + deps.limits.keyWaitMs;
  const fingerprint = deps.box.digest(meaning.text, LABEL);
  for (let round = 0; ; round += 1) {
    const held =
      mode === 'take'
        ? await claimKey(deps.db, claim, { fingerprint, leaseMs: deps.limits.leaseMs })
        : await look(deps, claim);
    if (held === 'claimed') return round === 0 ? 'claimed' : 'claimed late';
    const isAlive = held.done || held.lease_until.getTime() > 0;
    if (isAlive && !deps.box.matches(held.fingerprint, meaning.text, LABEL)) throw fail.keyReused();
    const task = held.done ? await settledTask(deps, held) : undefined;
    if (task) return task;
    if (Date.now() >= deadline) throw fail.sysUnavailable('first_request_still_running');
    await delay(POLL_MS);
  }
}

async function look({ db }: ClaimDeps, { subject, key }: Claim): Promise<'claimed' | KeyRow> {
  return (await findKey(db, subject, key)) ?? 'claimed';
}

/** The task of a finished key once its submission is decided; a task past its time makes room for a new one. */
async function settledTask({ db, clock }: ClaimDeps, held: KeyRow): Promise<Task | undefined> {
  const task = await findTask(db, clock, { taskId: held.task_id });
  if (!task) {
    await db(TASKS)
      .where({ task_id: held.task_id })
      .where('result_expires_at', '<=', db.raw('now() + ?::interval', [clock.offset]))
      .delete();
    await freeKey(db, held.task_id);
    return undefined;
  }
  return task.status === 'submitting' ? undefined : task;
}
