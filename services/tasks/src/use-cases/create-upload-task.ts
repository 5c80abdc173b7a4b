import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { crashPoint } from '@vision/shared/crash-point';
import { defaultLimits } from '@vision/shared/contracts/limits';
import { fail } from '@vision/shared/errors';
import type { Caller } from '@vision/shared/http/caller';
import type { IdempotencyKey } from '@vision/shared/http/idempotency-key';
import { insertDraft } from '../db/tasks.ts';
import type { Task } from '../domain/task.ts';
import { assertAcceptsNew } from './assert-accepts-new.ts';
import { claimCreate } from './claim-create.ts';
import type { Created } from './create-stream-task.ts';
import type { Deps } from './deps.ts';
import { holdLease } from './hold-lease.ts';
import { submitTask } from './submit-task.ts';
import { giveUpDraft } from './undo-draft.ts';

/** Below this prefix lies every uploaded video, under the id of its task. */
export const VIDEO_PREFIX = 'videos/';

interface ReceivedUpload {
  sha256: string;
  bytes: number;
  sceneCode: string | undefined;
}

export interface CreateUploadInput {
  caller: Caller;
  idempotencyKey: IdempotencyKey;
  /** `done`: the key names a task, so the body is only compared. `busy`: somebody else works on it. */
  knownKey: 'done' | 'busy' | undefined;
  /** Reads the body and stores its file under this key; without one it only looks at the file. */
  receive: (objectKey: string | undefined) => Promise<ReceivedUpload>;
}

/** Creates a task for an uploaded video, or gives the one that the key already stands for. */
export async function createUploadTask(deps: Deps, input: CreateUploadInput): Promise<Created> {
  if (input.knownKey === 'done') return compare(deps, input);
  const draft = await beginDraft(deps, input);
  crashPoint('tasks.create-upload.drafted');
  const release = holdLease(deps, draft);
  const standing = { is: false };
  try {
    const upload = await input.receive(draft.objectKey ?? undefined);
    crashPoint('tasks.create-upload.stored');
    return await create(deps, { input, draft, upload }, () => {
      standing.is = true;
    });
  } finally {
    release();
    if (!standing.is) await giveUpDraft(deps, draft);
  }
}

async function create(
  deps: Deps,
  { input, draft, upload }: { input: CreateUploadInput; draft: Task; upload: ReceivedUpload },
  onStanding: () => void,
): Promise<Created> {
  const { caller, idempotencyKey } = input;
  const sceneCode = requireScene(upload);
  const claim = { subject: caller.subject, key: idempotencyKey.key, taskId: draft.taskId, owner: randomUUID() };
  const held = await claimCreate(deps, claim, meaningOf(sceneCode, upload));
  if (typeof held === 'object') return { task: held, replayed: true };
  crashPoint('tasks.create-upload.key-claimed');
  if (input.knownKey === 'busy' || held === 'claimed late') await assertAcceptsNew(deps, caller);
  const scene = deps.scenes.findEnabled(sceneCode);
  if (!scene) throw fail.sceneUnavailable(sceneCode);
  const source = { kind: 'object' as const, bucket: deps.objects.bucket, key: draft.objectKey ?? '' };
  const limits = caller.limits ?? defaultLimits;
  const task = await submitTask(deps, { draft, claim, scene, source, limits }, onStanding);
  return { task, replayed: false };
}

/** A key that names a task: the body is compared with it and not stored. */
async function compare(deps: Deps, { caller, idempotencyKey, receive }: CreateUploadInput): Promise<Created> {
  const upload = await receive(undefined);
  const taskId = uuidv7();
  const claim = { subject: caller.subject, key: idempotencyKey.key, taskId, owner: randomUUID() };
  const held = await claimCreate(deps, claim, meaningOf(requireScene(upload), upload), 'look');
  if (typeof held === 'string') throw fail.sysUnavailable('first_request_undone');
  return { task: held, replayed: true };
}

const meaningOf = (sceneCode: string, { sha256 }: ReceivedUpload) => ({ text: `v1|upload|${sceneCode}|${sha256}` });

function requireScene({ sceneCode }: ReceivedUpload): string {
  if (sceneCode) return sceneCode;
  throw fail.requestInvalid('scene_code_missing', 'Send scene_code with the file.', { field: 'scene_code' });
}

async function beginDraft({ db, clock, limits }: Deps, { caller, idempotencyKey }: CreateUploadInput): Promise<Task> {
  const taskId = uuidv7();
  return insertDraft(db, clock, {
    draft: {
      taskId,
      subject: caller.subject,
      kind: 'upload',
      requestId: idempotencyKey.sent,
      requestKey: idempotencyKey.key,
      objectKey: `${VIDEO_PREFIX}${taskId}`,
    },
    leaseMs: limits.leaseMs,
  });
}
