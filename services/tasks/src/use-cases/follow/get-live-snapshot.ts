import type { JobSnapshot } from '@vision/contracts/inference';
import type { ReasonOf } from '@vision/contracts/reasons';
import { fail } from '@vision/contracts/errors';
import { isEnded } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';
import { getTask } from './get-task.ts';

/** A frame of a live stream as a JPEG. */
export interface LiveSnapshot {
  jpeg: Buffer;
  frameTimeMs: number;
}

/**
 * The newest frame of a live task of this subject.
 * @throws AppError not_found with the reason; OP-TASK-REQUEST-INVALID `not_a_stream` for uploads and image calls.
 */
export async function getLiveSnapshot(
  deps: Pick<Deps, 'db' | 'images' | 'inference'>,
  { subject, taskId, signal }: { subject: string; taskId: string; signal: AbortSignal },
): Promise<LiveSnapshot> {
  const task = await getTask(deps, { subject, taskId });
  if (task.kind !== 'stream') throw notAStream();
  if (task.snapshots !== 'tracks') throw noSnapshot('snapshots_off');
  if (isEnded(task.status)) throw noSnapshot('snapshot_none');
  const answer = await deps.inference.readSnapshot(taskId, signal);
  if (answer === 'not_yet') throw noSnapshot('snapshot_not_yet');
  if (answer === 'none') throw noSnapshot('not_supported');
  return { jpeg: jpegOf(answer), frameTimeMs: answer.frame_time_ms };
}

/** The start of a JPEG. A browser reads it, so no other content is returned with this type. */
const JPEG = Buffer.from('ffd8ff', 'hex');

function jpegOf({ data }: JobSnapshot): Buffer {
  const bytes = Buffer.from(data, 'base64');
  if (!bytes.subarray(0, JPEG.length).equals(JPEG)) throw fail.upstreamDown('inference_answer_unexpected');
  return bytes;
}

const sentences = {
  snapshots_off: 'The task was created without snapshots.',
  snapshot_not_yet: 'No frame of the stream arrived in time; retry in some seconds.',
  snapshot_none: 'The task has ended, so it has no newest frame.',
  not_supported: 'The inference backend creates no snapshots for the task.',
} as const satisfies Partial<Record<ReasonOf<'none'>, string>>;

const noSnapshot = (reason: keyof typeof sentences) => fail.notFound(sentences[reason], reason);
const notAStream = () => fail.requestInvalid('not_a_stream', 'The task is not of a live stream.');

/** An example of each refusal, for the OpenAPI document. */
export const snapshotRefusals = () => [
  notAStream(),
  ...(Object.keys(sentences) as (keyof typeof sentences)[]).map(noSnapshot),
];
