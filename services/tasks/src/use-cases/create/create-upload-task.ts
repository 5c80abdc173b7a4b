import { v7 as uuidv7 } from 'uuid';
import { meaningPrefix } from '@vision/contracts/create-query';
import type { CreateVideoQuery } from '@vision/contracts/create-query';
import { crashPoint } from '@vision/shared/crash-point';
import { fail } from '@vision/contracts/errors';
import { videoKeyOf } from '../../domain/video-key.ts';
import { createAnswerTime } from './answer-time.ts';
import { beginDraft, finishDraft } from './create-draft.ts';
import type { Created } from './create-draft.ts';
import { claimKey, openCreate, replayTask } from './create-key.ts';
import type { CreateRequest } from './create-key.ts';
import type { CreateDeps } from '../deps.ts';
import { commitSubmission, placeFor, requireScene } from './submit-task.ts';

interface ReceivedUpload {
  sha256: string;
  bytes: number;
  sceneCode: string | undefined;
}

export interface CreateUploadRequest extends CreateRequest {
  /** Reads the body and stores its file under this key; without one it only looks at the file. */
  receive: (objectKey: string | undefined) => Promise<ReceivedUpload>;
}

/** Creates a task for an uploaded video, or gives the one that the key already stands for. */
export async function createUploadTask(deps: CreateDeps, request: CreateUploadRequest): Promise<Created> {
  const opened = await openCreate(deps, request);
  if (opened.key === 'done') {
    const { meaning } = meaningOf(request.query, await request.receive(undefined));
    return { task: await replayTask(deps, opened, meaning), replayed: true };
  }
  const taskId = uuidv7();
  const time = createAnswerTime(deps.settings.submitTimeoutMs);
  // Another request with this key may turn out to have created the task: such a replay needs no room.
  if (opened.key === 'new') await deps.places.awaitRoom(placeFor({ taskId, kind: 'upload' }, request.caller), time);
  const objectKey = videoKeyOf(await deps.ownPrefix(), taskId);
  const draft = await beginDraft(deps, request, { taskId, kind: 'upload', objectKey });
  crashPoint('tasks.create-upload.drafted');
  return finishDraft(deps, draft, async () => {
    const { sceneCode, meaning } = meaningOf(request.query, await request.receive(objectKey));
    crashPoint('tasks.create-upload.stored');
    const claimed = await claimKey(deps, request, { opened, draft, meaning });
    if (claimed.outcome === 'replayed') return claimed;
    const scene = requireScene(deps, sceneCode);
    const source = { kind: 'object' as const, bucket: deps.store.bucket, key: objectKey };
    return commitSubmission(deps, { draft, claim: claimed.claim, caller: request.caller, scene, source, time });
  });
}

/** What two uploads have in common that are the same request. */
function meaningOf(
  query: CreateVideoQuery,
  { sceneCode, sha256 }: ReceivedUpload,
): { sceneCode: string; meaning: string } {
  if (sceneCode) return { sceneCode, meaning: `${meaningPrefix(query)}|upload|${sceneCode}|${sha256}` };
  throw fail.requestInvalid('scene_code_missing', 'Send scene_code with the file.', { field: 'scene_code' });
}
