import { v7 as uuidv7 } from 'uuid';
import { meaningPrefix } from '@vision/contracts/create-query';
import type { CreateVideoQuery } from '@vision/contracts/create-query';
import { crashPoint } from '@vision/shared/crash-point';
import { fail } from '@vision/contracts/errors';
import type { Task } from '../../domain/task.ts';
import { videoKeyOf } from '../../domain/video-key.ts';
import { createAnswerTime } from './answer-time.ts';
import type { AnswerTime } from './answer-time.ts';
import { beginDraft, finishDraft } from './create-draft.ts';
import type { Created } from './create-draft.ts';
import { claimKey, openCreate, replayTask } from './create-key.ts';
import type { CreateRequest, DoneKey, OpenKey, Replay } from './create-key.ts';
import type { CreateDeps } from '../deps.ts';
import { commitSubmission, requireScene, slotFor } from './submit-task.ts';
import type { Submission } from './submit-task.ts';

/** A draft that waits for its file, or a known task whose file is compared with this one. */
export type OpenUpload = NewUpload | { opened: DoneKey; objectKey: undefined };

interface NewUpload {
  opened: OpenKey;
  draft: Task;
  /** Object key for the file. */
  objectKey: string;
  time: AnswerTime;
}

interface ReceivedUpload {
  sha256: string;
  sceneCode: string | undefined;
}

/**
 * Before the body of an upload is read: waits for capacity and stores a draft, unless the key already names a task.
 * `createUploadTask` has to follow at once.
 * @throws AppError any error of `openCreate`; OP-SYS-UNAVAILABLE without capacity.
 */
export async function openUpload(deps: CreateDeps, request: CreateRequest): Promise<OpenUpload> {
  const opened = await openCreate(deps, request);
  if (opened.key === 'done') return { opened, objectKey: undefined };
  const taskId = uuidv7();
  const time = createAnswerTime(deps.settings.submitTimeoutMs);
  // Another request with this key may have created the task: such a replay needs no capacity.
  if (opened.key === 'new') await deps.slots.awaitRoom(slotFor({ taskId, kind: 'upload' }, request.caller), time);
  const objectKey = videoKeyOf(await deps.ownPrefix(), taskId);
  const draft = await beginDraft(deps, request, { taskId, kind: 'upload', objectKey });
  crashPoint('tasks.create-upload.drafted');
  return { opened, draft, objectKey, time };
}

/**
 * Creates a task for an uploaded video, or returns the task that the key already names.
 * @param receiving the body, which is being read while its file is stored as `upload.objectKey`.
 */
export async function createUploadTask(
  deps: CreateDeps,
  request: CreateRequest,
  upload: OpenUpload,
  receiving: Promise<ReceivedUpload>,
): Promise<Created> {
  if (upload.objectKey !== undefined) {
    return finishDraft(deps, upload.draft, prepareUpload(deps, request, upload, receiving));
  }
  const { meaning } = meaningOf(request.query, await receiving);
  return { task: await replayTask(deps, upload.opened, meaning), replayed: true };
}

async function prepareUpload(
  deps: CreateDeps,
  request: CreateRequest,
  { opened, draft, objectKey, time }: NewUpload,
  receiving: Promise<ReceivedUpload>,
): Promise<Submission | Replay> {
  const { sceneCode, meaning } = meaningOf(request.query, await receiving);
  crashPoint('tasks.create-upload.stored');
  const claimed = await claimKey(deps, request, { opened, draft, meaning });
  if (claimed.outcome === 'replayed') return claimed;
  const { claim } = claimed;
  const scene = requireScene(deps, sceneCode);
  const source = { kind: 'object' as const, bucket: deps.store.bucket, key: objectKey };
  return commitSubmission(deps, { draft, claim, caller: request.caller, scene, source, time });
}

/** Fields that identify an upload request. */
function meaningOf(
  query: CreateVideoQuery,
  { sceneCode, sha256 }: ReceivedUpload,
): { sceneCode: string; meaning: string } {
  if (sceneCode) return { sceneCode, meaning: `${meaningPrefix(query)}|upload|${sceneCode}|${sha256}` };
  throw fail.requestInvalid('scene_code_missing', 'Send scene_code with the file.', { field: 'scene_code' });
}
