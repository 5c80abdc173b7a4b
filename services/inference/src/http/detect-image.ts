import { z } from 'zod';
import { GateFullError } from '@vision/shared/async/gate';
import { detection, ownerHeader, processorTimeHeader, refusal } from '@vision/contracts/inference';
import type { Refusal } from '@vision/contracts/inference';
import { asAppError } from '@vision/contracts/errors';
import { drain } from '@vision/shared/http/drain';
import { readRequestBody } from '@vision/shared/http/read-body';
import { route } from '@vision/shared/http/route';
import type { Reply, RouteContext } from '@vision/shared/http/route';
import { runInTurn } from '@vision/shared/upstream/queue-span';
import type { ImageDeps } from '../use-cases/deps.ts';
import { detectImage } from '../use-cases/detect-image.ts';
import type { DetectImageOutcome } from '../use-cases/detect-image.ts';

/** 8 MiB of image, as the public API allows, and some slack. */
const BODY_LIMITS = { maxBytes: 8 * 1024 * 1024 + 64 * 1024, idleMs: 10_000, totalMs: 60_000 };
const RETRY_AFTER_S = 1;

type Request = RouteContext<unknown, unknown, unknown>['req'];
type Response = RouteContext<unknown, unknown, unknown>['res'];

const share = z
  .string()
  .regex(/^(\d+(\.\d*)?|\.\d+)$/, 'must be a decimal number')
  .transform(Number)
  .pipe(z.number().min(0).max(1));
const query = z.object({ scene_code: z.string().min(1).max(64), min_score: share.optional() });
const image = z.string().meta({ format: 'binary' });

export const detectImageRoute = (deps: ImageDeps) =>
  route(
    {
      operation: 'detectImage',
      method: 'post',
      path: '/v1/detect',
      summary: 'Detects objects in one image',
      description: 'JPEG, PNG or WebP by its leading bytes, not by its declared type; the first frame counts.',
      audience: 'backend',
      // Only computes: no caller needs the answer after the deadline.
      endsWithDeadline: true,
      query,
      bodyDoc: { contentType: 'image/jpeg', schema: image },
      responses: {
        200: { description: 'The detections, highest score first.', schema: detection },
        404: { description: 'No model serves this scene.', schema: refusal },
        422: { description: 'The bytes are not an image that can be decoded within the pixel limit.', schema: refusal },
        503: { description: 'Overloaded or without a model.', schema: refusal },
      },
    },
    async ({ query: { scene_code: sceneCode, min_score: minScore }, req, res, signal }) => {
      const owner = req.get(ownerHeader)?.slice(0, 64);
      const readAndDetect = async (): Promise<Reply | undefined> => {
        const bytes = await readImage(req);
        if (bytes) return replyTo(deps, await detectImage(deps, { sceneCode, minScore, bytes, owner, signal }));
        refuseEarly(req, res, { reason: 'too_large' });
        return undefined;
      };
      try {
        return await runInTurn(deps.requestGate, 'pictures', readAndDetect, { owner, signal });
      } catch (error) {
        if (!(error instanceof GateFullError)) throw error;
        return turnAway(deps);
      }
    },
  );

/** Undefined when the body is larger than any image may be. */
async function readImage(req: Request): Promise<Buffer | undefined> {
  try {
    return await readRequestBody(req, BODY_LIMITS);
  } catch (error) {
    if (asAppError(error)?.reason === 'body_too_large') return undefined;
    throw error;
  }
}

/** Answers while the body still arrives; the rest of it is dropped within a bound, so that the answer is read. */
function refuseEarly(req: Request, res: Response, body: Refusal): void {
  const text = JSON.stringify(body);
  res
    .status(422)
    .set({ 'Content-Type': 'application/json', 'Content-Length': String(text.length), Connection: 'close' });
  res.write(text);
  drain(req, () => res.end());
}

function replyTo(deps: ImageDeps, outcome: DetectImageOutcome): Reply {
  switch (outcome.kind) {
    case 'detected':
      return { status: 200, body: outcome.detection, headers: costOf(outcome) };
    case 'scene_unknown':
      return refuse(404, 'scene_unknown');
    case 'refused':
      return refuse(422, outcome.reason, costOf(outcome));
    case 'turned_away':
      return turnAway(deps);
    case 'unavailable':
      return unavailable(outcome.reason);
  }
}

const costOf = ({ cpuMs }: { cpuMs: number }) => ({ [processorTimeHeader]: String(cpuMs) });

function turnAway({ signals }: ImageDeps): Reply {
  signals.imageTurnedAway();
  return unavailable('saturated');
}

const unavailable = (reason: string) => refuse(503, reason, { 'Retry-After': String(RETRY_AFTER_S) });

const refuse = (status: number, reason: string, headers: Record<string, string> = {}): Reply => ({
  status,
  body: { reason },
  headers,
  outcome: { reason },
});
