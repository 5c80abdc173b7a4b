import { z } from 'zod';
import { detectedObject, imageSize } from '@vision/contracts/detection';
import { fail, refusalOf } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import { processorTimeHeader, snapshot } from '@vision/contracts/inference';
import { readJson } from '@vision/shared/http/json-body';
import { route } from '@vision/shared/http/route';
import { probeAdvice } from '../domain/stream-probe.ts';
import type { ProbeProblem } from '../domain/stream-probe.ts';
import { createStreamProbe } from '../use-cases/create/create-stream-probe.ts';
import type { StreamProbeDeps } from '../use-cases/create/create-stream-probe.ts';
import type { Deps } from '../use-cases/deps.ts';
import { tooManyPerMinute } from '../use-cases/create/probe-limits.ts';
import { streamUnreachable } from '../use-cases/create/probe-stream.ts';
import { parseStreamBody, sceneCode, streamUrl } from './stream-body.ts';

const body = z
  .strictObject({
    stream_url: streamUrl,
    scene_code: sceneCode.optional().describe('Code of an enabled scene; the frame is then detected with it'),
  })
  .meta({ id: 'NewStreamProbeRequest' });

const problems = Object.keys(probeAdvice) as [ProbeProblem, ...ProbeProblem[]];

const view = z
  .object({
    codec: z.string().optional().describe('Codec of the video as ffmpeg names it, such as `h264`'),
    image: imageSize.optional(),
    fps: z
      .number()
      .optional()
      .describe('Frames per second, measured over about a second, 60 at most; absent if fewer than two frames came'),
    snapshot: snapshot.optional().describe('Newest frame as an image; absent if the operator has turned it off'),
    objects: z
      .array(detectedObject)
      .optional()
      .describe('Objects of the frame, highest score first; with `scene_code`. Their threshold is that of a new task.'),
    capacity: z
      .enum(['available', 'none'])
      .optional()
      .describe('Whether another stream could start now; absent if the inference backend does not tell'),
    problem: z
      .object({
        reason: z
          .enum(problems)
          .describe(
            'Why the stream gave no frame. `no_frame`: none came in time, or the peer failed after the handshake. ' +
              '`not_supported`: the stream answered, but the inference backend does not read streams for probes.',
          ),
        advice: z.string().describe('Suggested action'),
      })
      .optional()
      .describe('Absent if a frame was read; `codec`, `image`, `fps`, `snapshot` and `objects` are absent otherwise'),
  })
  .meta({ id: 'StreamProbe', description: 'Format, one frame and objects of a live stream' });

export const createStreamProbeRoute = (deps: StreamProbeDeps & Pick<Deps, 'policy'>) =>
  route(
    {
      operation: 'createStreamProbe',
      method: 'post',
      path: '/v1/vision/stream-probes',
      summary: 'Reads a live stream for a moment, before a task is created',
      description:
        'Returns codec, size, frame rate and one frame of the stream, and the objects in it if `scene_code` is sent. ' +
        'Creates no task and charges no unit; the processor time counts as that of images does. The frame is not ' +
        'stored. A response takes up to 10 seconds. If the stream cannot be reached, the request is rejected as a ' +
        'create request is: the reason is not disclosed, and the response time does not depend on it. Limited per ' +
        'minute (`probe_rate`) and by concurrency (`too_many_in_flight`).',
      tag: 'Video tasks',
      audience: 'public',
      bodyDoc: {
        contentType: 'application/json',
        schema: body,
        example: { scene_code: 'person_vehicle', stream_url: 'rtsp://user:secret@camera.example.org/yard' },
      },
      responses: { 200: { description: 'The stream was reached', schema: view, example: exampleView() } },
      refusalExamples: () => [
        ...bodyRefusals(),
        streamUnreachable(),
        tooManyPerMinute(20_000),
        fail.rateLimited('too_many_in_flight', 1, { limit: 'stream_probes', allowed: 2 }),
        fail.rateLimited('processor_time_exceeded', 12, { limit: 'processor_time' }),
        fail.sceneUnavailable('ship'),
        fail.breakerOpen(5),
        fail.maintenance(),
        fail.upstreamDown('inference_unreachable'),
        fail.upstreamDown('stream_probes_saturated'),
      ],
    },
    async ({ req, caller }) => {
      const request = parseStreamBody(deps, body, await readJson(req));
      const { view: found, processorMs } = await createStreamProbe(deps, { caller, ...request });
      return {
        status: 200,
        body: found,
        headers: { [processorTimeHeader]: String(processorMs), 'Cache-Control': 'no-store' },
      };
    },
  );

function exampleView(): z.input<typeof view> {
  return {
    codec: 'h264',
    image: { width: 1920, height: 1080 },
    fps: 25,
    snapshot: { media_type: 'image/jpeg', data: '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBD' },
    objects: [
      {
        label: 'person',
        score: 0.91,
        bbox: { format: 'cxcywh_normalized', cx: 0.52, cy: 0.6, width: 0.08, height: 0.31 },
      },
    ],
    capacity: 'available',
  };
}

function bodyRefusals(): AppError[] {
  const policy = { checkLiteral: () => undefined, checkPort: () => undefined };
  const stream_url = 'rtsp://camera.example.org/yard';
  const bodies = [
    { stream_url: 'ftp://camera.example.org/yard' },
    { stream_url, colour: 'red' },
    { stream_url, scene_code: 1 },
  ];
  return bodies.map((json) => refusalOf(() => parseStreamBody({ policy }, body, json)));
}
