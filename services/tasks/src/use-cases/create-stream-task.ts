import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { crashPoint } from '@vision/shared/crash-point';
import { defaultLimits } from '@vision/shared/contracts/limits';
import type { SceneEntry } from '@vision/shared/contracts/scenes';
import { fail } from '@vision/shared/errors';
import type { Caller } from '@vision/shared/http/caller';
import type { IdempotencyKey } from '@vision/shared/http/idempotency-key';
import { ProbeError } from '../clients/probe-socket.ts';
import { freeKey } from '../db/idempotency-keys.ts';
import { insertDraft } from '../db/tasks.ts';
import type { StreamUrl } from '@vision/shared/net/stream-url';
import type { Task } from '../domain/task.ts';
import { assertAcceptsNew } from './assert-accepts-new.ts';
import { claimCreate } from './claim-create.ts';
import type { Deps } from './deps.ts';
import { holdLease } from './hold-lease.ts';
import { submitTask } from './submit-task.ts';
import { giveUpDraft } from './undo-draft.ts';

export interface CreateStreamInput {
  caller: Caller;
  idempotencyKey: IdempotencyKey;
  sceneCode: string;
  url: StreamUrl;
  /** The key was known before the body was read, so what keeps new work out was not looked at. */
  keyWasKnown: boolean;
}

export interface Created {
  task: Task;
  replayed: boolean;
}

/** Creates a task for a live stream, or gives the one that the key already stands for. */
export async function createStreamTask(deps: Deps, input: CreateStreamInput): Promise<Created> {
  const { caller, idempotencyKey, url, sceneCode } = input;
  const taskId = uuidv7();
  const claim = { subject: caller.subject, key: idempotencyKey.key, taskId, owner: randomUUID() };
  const held = await claimCreate(deps, claim, { text: `v1|stream|${sceneCode}|${url.href}` });
  if (typeof held === 'object') return { task: held, replayed: true };
  crashPoint('tasks.create-stream.key-claimed');
  const { draft, scene } = await freeingKey(deps, taskId, async () => {
    if (input.keyWasKnown || held === 'claimed late') await assertAcceptsNew(deps, caller);
    return beginDraft(deps, input, taskId);
  });
  crashPoint('tasks.create-stream.drafted');
  const release = holdLease(deps, draft);
  const standing = { is: false };
  try {
    const { pinnedAddress } = await probe(deps, url);
    crashPoint('tasks.create-stream.probed');
    const source = { kind: 'stream' as const, url: url.href, pinned_address: pinnedAddress };
    const limits = caller.limits ?? defaultLimits;
    const task = await submitTask(deps, { draft, claim, scene, source, limits }, () => {
      standing.is = true;
    });
    return { task, replayed: false };
  } finally {
    release();
    if (!standing.is) await giveUpDraft(deps, draft);
  }
}

async function beginDraft(
  deps: Deps,
  input: CreateStreamInput,
  taskId: string,
): Promise<{ draft: Task; scene: SceneEntry }> {
  const { caller, idempotencyKey, url, sceneCode } = input;
  const scene = deps.scenes.findEnabled(sceneCode);
  if (!scene) throw fail.sceneUnavailable(sceneCode);
  const draft = await insertDraft(deps.db, deps.clock, {
    draft: {
      taskId,
      subject: caller.subject,
      kind: 'stream',
      requestId: idempotencyKey.sent,
      requestKey: idempotencyKey.key,
      sourceLabel: url.label,
    },
    leaseMs: deps.limits.leaseMs,
  });
  return { draft, scene };
}

async function freeingKey<T>(deps: Deps, taskId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await freeKey(deps.db, taskId);
    throw error;
  }
}

/** One answer for everything that depends on name service or network: more would tell what is behind our address. */
async function probe({ probe: run, signals, logger }: Deps, url: StreamUrl): Promise<{ pinnedAddress: string }> {
  try {
    const found = await run(url);
    signals.probed(url.scheme, 'ok');
    return found;
  } catch (error) {
    const fault = error instanceof ProbeError ? error.fault : 'failed';
    signals.probed(url.scheme, fault);
    logger.info({ source: url.label, fault }, 'a stream was not reachable');
    throw streamUnreachable();
  }
}

/** Which of its checks a stream did not pass is for the log: the answer must not help to look around in networks. */
export const streamUnreachable = () =>
  fail.requestInvalid('stream_unreachable', 'The stream could not be reached or did not answer as a stream.', {
    field: 'stream_url',
  });
