import { v7 as uuidv7 } from 'uuid';
import { meaningPrefix } from '@vision/contracts/create-query';
import { crashPoint } from '@vision/shared/crash-point';
import type { StreamUrl } from '@vision/streams/stream-url';
import { createAnswerTime } from './answer-time.ts';
import { beginDraft, finishDraft } from './create-draft.ts';
import type { Created } from './create-draft.ts';
import { claimKey, openCreate, replayTask } from './create-key.ts';
import type { CreateRequest } from './create-key.ts';
import type { CreateDeps, Deps } from '../deps.ts';
import { probeStream } from './probe-stream.ts';
import { commitSubmission, requireScene } from './submit-task.ts';

export interface CreateStreamRequest extends CreateRequest {
  readBody: () => Promise<{ sceneCode: string; url: StreamUrl }>;
}

/** Creates a task for a live stream, or gives the one that the key already stands for. */
export async function createStreamTask(
  deps: CreateDeps & Pick<Deps, 'probe' | 'probeLimits'>,
  request: CreateStreamRequest,
): Promise<Created> {
  const opened = await openCreate(deps, request);
  const { sceneCode, url } = await request.readBody();
  const meaning = `${meaningPrefix(request.query)}|stream|${sceneCode}|${url.href}`;
  if (opened.key === 'done') return { task: await replayTask(deps, opened, meaning), replayed: true };
  const draft = await beginDraft(deps, request, { taskId: uuidv7(), kind: 'stream', sourceLabel: url.label });
  crashPoint('tasks.create-stream.drafted');
  return finishDraft(deps, draft, async () => {
    const claimed = await claimKey(deps, request, { opened, draft, meaning });
    if (claimed.outcome === 'replayed') return claimed;
    const scene = requireScene(deps, sceneCode);
    const pinnedAddress = await probeStream(deps, draft, url);
    crashPoint('tasks.create-stream.probed');
    const source = { kind: 'stream' as const, url: url.href, pinned_address: pinnedAddress };
    const time = createAnswerTime(deps.settings.submitTimeoutMs);
    return commitSubmission(deps, { draft, claim: claimed.claim, caller: request.caller, scene, source, time });
  });
}
