import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { DetectedImage } from './fit-calibration.ts';
import type { GroundTruth } from './ground-truth.ts';
import { curveOf, rawScoreOf, RAW_SCORES } from '@vision/contracts/calibration';
import type { Calibration } from '@vision/contracts/calibration';
import type { DetectedObject } from '@vision/contracts/detection';
import { detection, healthReply, refusal } from '@vision/contracts/inference';
import { bodyAs, call } from '@vision/shared/http/call';
import { UsageError } from '../usage-error.ts';

/** An inference service that detects with the registry at hand. */
export interface Backend {
  url: string;
  token: string | undefined;
  scene: string;
  /** What the registry says its scores mean now; leads from published scores back to raw ones. */
  calibration: Calibration | undefined;
}

const TIMEOUT_MS = 30_000;
const TRIES = 5;
/** Before the second try; longer before each later one. */
const PAUSE_MS = 200;

/** @throws UsageError when the service cannot be the one whose scores the registry explains. */
export async function requireSameScores(backend: Backend): Promise<void> {
  const { url, scene, calibration } = backend;
  const answer = await send(backend, { operation: 'health', method: 'GET', path: '/v1/health' });
  const served = bodyAs(healthReply, answer)?.scenes.find(({ scene_code: code }) => code === scene);
  if (!served) throw new UsageError(`${url} does not serve the scene ${scene} now.`);
  if (served.calibration === calibration?.version) return;
  throw new UsageError(
    `${url} publishes scores with ${named(served.calibration)}, the registry has ${named(calibration?.version)}: ` +
      'start it with this registry, or name its own with --registry.',
  );
}

const named = (version: string | undefined) => (version === undefined ? 'no calibration' : `calibration ${version}`);

/** What the detector finds in an image, however unsure, with raw scores. */
export async function detectIn(backend: Backend, directory: string, truth: GroundTruth): Promise<DetectedImage> {
  const bytes = await readImage(join(directory, truth.file));
  const path = `/v1/detect?${new URLSearchParams({ scene_code: backend.scene, min_score: '0' }).toString()}`;
  for (let number = 1; ; number += 1) {
    // A connection that broke is tried anew, as a refusal of a busy service is: one of many images ends no run.
    const answer = await send(backend, { operation: 'detect', method: 'POST', path, bytes }).catch((error: unknown) => {
      if (number >= TRIES) throw error;
      return undefined;
    });
    const found = answer && bodyAs(detection, answer);
    if (answer?.status === 200 && found) return { truth, found: found.objects.map(toRawBox(backend, truth)) };
    if (answer && (answer.status !== 503 || number >= TRIES)) {
      const reason = bodyAs(refusal, answer)?.reason ?? 'no reason given';
      throw new Error(`${truth.file} was not detected: ${answer.status} ${reason}.`);
    }
    await delay(PAUSE_MS * number);
  }
}

function toRawBox({ calibration = RAW_SCORES }: Backend, { width, height }: GroundTruth) {
  return ({ label, score, bbox }: DetectedObject) => ({
    label,
    score: rawScoreOf(curveOf(calibration, label), score),
    box: {
      left: (bbox.cx - bbox.width / 2) * width,
      top: (bbox.cy - bbox.height / 2) * height,
      right: (bbox.cx + bbox.width / 2) * width,
      bottom: (bbox.cy + bbox.height / 2) * height,
    },
  });
}

async function readImage(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new UsageError(
      `The labelled picture ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? ''}).`,
    );
  }
}

interface Asked {
  operation: 'health' | 'detect';
  method: 'GET' | 'POST';
  path: string;
  bytes?: Buffer;
}

const send = ({ url, token }: Backend, { path, bytes, ...asked }: Asked) =>
  call({
    ...asked,
    upstream: 'inference',
    url: url.replace(/\/+$/, '') + path,
    bytes,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(bytes === undefined ? {} : { 'content-type': 'application/octet-stream' }),
    },
    timeoutMs: TIMEOUT_MS,
  });
