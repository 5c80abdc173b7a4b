import { v7 as uuidv7 } from 'uuid';
import { meaningPrefix } from '@vision/contracts/create-query';
import { crashPoint } from '@vision/shared/crash-point';
import type { StreamUrl } from '@vision/streams/stream-url';
import type { Task } from '../../domain/task.ts';
import { createAnswerTime } from './answer-time.ts';
import { beginDraft, finishDraft } from './create-draft.ts';
import type { Created } from './create-draft.ts';
import { claimKey, replayTask } from './create-key.ts';
import type { CreateRequest, KnownKey, OpenKey, Replay } from './create-key.ts';
import type { CreateDeps, Deps } from '../deps.ts';
import { probeStream } from './probe-stream.ts';
import { commitSubmission, requireScene } from './submit-task.ts';
import type { Submission } from './submit-task.ts';

type StreamDeps = CreateDeps & Pick<Deps, 'probe' | 'probeLimits'>;

/** Body of a create request. */
export interface NewStream {
  sceneCode: string;
  url: StreamUrl;
}

/**
 * Creates a task for a live stream, or returns the task that the key already names.
 * @param opened result of `openCreate`, called before the body is read.
 */
export async function createStreamTask(
  deps: StreamDeps,
  request: CreateRequest,
  opened: KnownKey,
  stream: NewStream,
): Promise<Created> {
  const meaning = `${meaningPrefix(request.query)}|stream|${stream.sceneCode}|${stream.url.href}`;
  if (opened.key === 'done') return { task: await replayTask(deps, opened, meaning), replayed: true };
  const draft = await beginDraft(deps, request, { taskId: uuidv7(), kind: 'stream', sourceLabel: stream.url.label });
  crashPoint('tasks.create-stream.drafted');
  return finishDraft(deps, draft, prepareStream(deps, request, { opened, draft, meaning, stream }));
}

async function prepareStream(
  deps: StreamDeps,
  request: CreateRequest,
  { opened, draft, meaning, stream }: { opened: OpenKey; draft: Task; meaning: string; stream: NewStream },
): Promise<Submission | Replay> {
  const claimed = await claimKey(deps, request, { opened, draft, meaning });
  if (claimed.outcome === 'replayed') return claimed;
  const { claim } = claimed;
  const scene = requireScene(deps, stream.sceneCode);
  const pinnedAddress = await probeStream(deps, draft, stream.url);
  crashPoint('tasks.create-stream.probed');
  const source = { kind: 'stream' as const, url: stream.url.href, pinned_address: pinnedAddress };
  const time = createAnswerTime(deps.settings.submitTimeoutMs);
  return commitSubmission(deps, { draft, claim, caller: request.caller, scene, source, time });
}
