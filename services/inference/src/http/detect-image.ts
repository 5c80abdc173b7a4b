import { z } from 'zod';
import { detection, refusal } from '@vision/shared/contracts/inference';
import type { Refusal } from '@vision/shared/contracts/inference';
import { asAppError } from '@vision/shared/errors';
import { drain } from '@vision/shared/http/drain';
import { route } from '@vision/shared/http/route';
import type { Reply, RouteContext } from '@vision/shared/http/route';
import { GateFullError } from '../detectors/gate.ts';
import type { Gate } from '../detectors/gate.ts';
import type { Detectors, ServedScene } from '../detectors/start-detectors.ts';
import { detectImage } from '../use-cases/detect-image.ts';
import type { DetectImageDeps, DetectImageInput } from '../use-cases/detect-image.ts';
import { readBody } from './read-body.ts';

export interface DetectImageRouteDeps extends DetectImageDeps {
  detectors: Detectors;
  /** Places for requests, from the first byte of the body to the answer; what has no place is turned away. */
  places: Gate;
}

type Exchange = Pick<RouteContext<unknown, unknown, unknown>, 'req' | 'res'>;

/** 8 MiB of picture, as the public API allows, and some slack. */
const BODY_LIMITS = { maxBytes: 8 * 1024 * 1024 + 64 * 1024, idleMs: 10_000, totalMs: 60_000 };
const RETRY_AFTER_S = 1;

const share = z
  .string()
  .regex(/^(\d+(\.\d*)?|\.\d+)$/, 'must be a decimal number')
  .transform(Number)
  .pipe(z.number().min(0).max(1));
const query = z.object({ scene_code: z.string().min(1).max(64), min_score: share.optional() });
const picture = z.string().meta({ format: 'binary' });

export const detectImageRoute = (deps: DetectImageRouteDeps) =>
  route(
    {
      operation: 'detectImage',
      method: 'post',
      path: '/v1/detect',
      summary: 'Detect objects in one image.',
      description: 'JPEG, PNG or WebP by its leading bytes, whatever type is declared; the first frame counts.',
      audience: 'backend',
      query,
      bodyDoc: { contentType: 'image/jpeg', schema: picture },
      responses: {
        200: { description: 'The detections, highest score first.', schema: detection },
        404: { description: 'No model serves this scene.', schema: refusal },
        422: { description: 'The bytes are not an image that can be decoded within the pixel limit.', schema: refusal },
        503: { description: 'Overloaded or without a model.', schema: refusal },
      },
    },
    async ({ query: { scene_code: sceneCode, min_score: minScore }, req, res, signal }) => {
      const served = deps.detectors.find(sceneCode);
      if (!served) return { status: 404, body: { reason: 'scene_unknown' } };
      try {
        return await deps.places.run(() => answer(deps, { req, res }, { served, minScore, signal }), signal);
      } catch (error) {
        if (!(error instanceof GateFullError)) throw error;
        deps.signals.imageTurnedAway();
        return busy('saturated');
      }
    },
  );

async function answer(
  deps: DetectImageRouteDeps,
  { req, res }: Exchange,
  input: Omit<DetectImageInput, 'bytes'>,
): Promise<Reply | undefined> {
  const bytes = await readPicture(req);
  if (!bytes) {
    refuseEarly({ req, res }, { reason: 'too_large' });
    return undefined;
  }
  const outcome = await detectImage(deps, { ...input, bytes });
  switch (outcome.kind) {
    case 'detected':
      return { status: 200, body: outcome.detection };
    case 'refused':
      return { status: 422, body: { reason: outcome.reason } };
    case 'unavailable':
      noteFailure(deps, input.served, outcome);
      return busy(outcome.reason);
  }
}

/** Undefined when the body is larger than any picture may be. */
async function readPicture(req: Exchange['req']): Promise<Buffer | undefined> {
  try {
    return await readBody(req, BODY_LIMITS);
  } catch (error) {
    if (asAppError(error)?.reason === 'body_too_large') return undefined;
    throw error;
  }
}

/** Answers while the body still arrives; the rest of it is dropped within a bound, so that the answer is read. */
function refuseEarly({ req, res }: Exchange, body: Refusal): void {
  const text = JSON.stringify(body);
  res
    .status(422)
    .set({ 'Content-Type': 'application/json', 'Content-Length': String(text.length), Connection: 'close' });
  res.write(text);
  drain(req, () => res.end());
}

function noteFailure(
  { signals }: DetectImageRouteDeps,
  { scene }: ServedScene,
  { reason, cause }: { reason: string; cause: unknown },
): void {
  signals.detectorFailed({ scene: scene.scene_code, reason, cause });
}

const busy = (reason: string): Reply => ({
  status: 503,
  body: { reason },
  headers: { 'Retry-After': String(RETRY_AFTER_S) },
});
