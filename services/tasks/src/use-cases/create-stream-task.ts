import { v7 as uuidv7 } from 'uuid';
import { crashPoint } from '@vision/shared/crash-point';
import { fail } from '@vision/shared/errors';
import type { StreamUrl } from '@vision/shared/net/stream-url';
import type { Task } from '../domain/task.ts';
import { beginDraft, finishDraft } from './create-draft.ts';
import type { Created } from './create-draft.ts';
import { claimKey, openCreate, replayTask } from './create-key.ts';
import type { CreateRequest } from './create-key.ts';
import type { CreateDeps, Deps } from './deps.ts';
import { commitSubmission, requireScene } from './submit-task.ts';

export interface CreateStreamRequest extends CreateRequest {
  readBody: () => Promise<{ sceneCode: string; url: StreamUrl }>;
}

/** Creates a task for a live stream, or gives the one that the key already stands for. */
export async function createStreamTask(
  deps: CreateDeps & Pick<Deps, 'probe'>,
  request: CreateStreamRequest,
): Promise<Created> {
  const opened = await openCreate(deps, request);
  const { sceneCode, url } = await request.readBody();
  const meaning = `v1|stream|${sceneCode}|${url.href}`;
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
    return commitSubmission(deps, { draft, claim: claimed.claim, caller: request.caller, scene, source });
  });
}

async function probeStream(
  { probe, signals }: Pick<Deps, 'probe' | 'signals'>,
  { taskId }: Task,
  url: StreamUrl,
): Promise<string> {
  const found = await probe(url);
  if (found.outcome === 'reached') {
    signals.streamReached({ scheme: url.scheme });
    return found.pinnedAddress;
  }
  signals.streamUnreachable({ task_id: taskId, scheme: url.scheme, source: url.label, fault: found.fault });
  throw streamUnreachable();
}

/** Which of its checks a stream did not pass is for the log: the answer must not help to look around in networks. */
export const streamUnreachable = () =>
  fail.requestInvalid('stream_unreachable', 'The stream could not be reached or did not answer as a stream.', {
    field: 'stream_url',
  });
