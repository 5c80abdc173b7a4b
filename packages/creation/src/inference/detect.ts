import type { Readable } from 'node:stream';
import { detection, ownerHeader, processorTimeHeader, processorTimesOf } from '@vision/contracts/inference';
import type { Detection } from '@vision/contracts/inference';
import { fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import type { CallReply, CallRequest } from '@vision/shared/http/call';
import { opaque } from './opaque.ts';
import { expectBody, unavailableOn } from './replies.ts';

export interface DetectInput {
  /** The subject that the image is for; the backend learns a digest of it. */
  owner: string;
  sceneCode: string;
  minScore: number;
  /** The image; a stream is read once, and says how long it is. */
  picture: Buffer | { stream: Readable; bytes: number };
  contentType: 'image/jpeg' | 'image/png' | 'image/webp';
  signal?: AbortSignal | undefined;
}

/** The detections of an image, or that it is at fault, with the processor time it took. */
export type DetectOutcome = { processorMs: number } & (
  { outcome: 'detected'; detection: Detection } | { outcome: 'unreadable'; error: AppError }
);

type BackendRequest = Omit<CallRequest, 'upstream' | 'url' | 'dispatcher' | 'timeoutMs'> & { path: string };

/** Sends an image and reads its detections. @throws as `InferenceClient.detect` */
export async function detect(
  input: DetectInput,
  ask: (request: BackendRequest) => Promise<CallReply>,
): Promise<DetectOutcome> {
  const query = new URLSearchParams({ scene_code: input.sceneCode, min_score: String(input.minScore) });
  const { picture } = input;
  const [bytes, length] = Buffer.isBuffer(picture) ? [picture, picture.length] : [picture.stream, picture.bytes];
  const headers = {
    'content-type': input.contentType,
    'content-length': String(length),
    [ownerHeader]: opaque(input.owner),
  };
  const request = {
    operation: 'detect',
    method: 'POST' as const,
    path: `/v1/detect?${query.toString()}`,
    bytes,
    headers,
    signal: input.signal,
  };
  const reply = await unavailableOn(ask(request), input.signal);
  const [processorMs = 0] = processorTimesOf(reply.headers[processorTimeHeader]);
  if (reply.status === 422) {
    const error = fail.requestInvalid('image_unreadable', 'The image cannot be decoded within the pixel limit.');
    return { outcome: 'unreadable', error, processorMs };
  }
  return { outcome: 'detected', detection: expectBody(detection, reply), processorMs };
}
