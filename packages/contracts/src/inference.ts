import { z } from 'zod';
import { giveUpBounds } from './create-query.ts';
import { detectedObject, imageSize } from './detection.ts';

/** Zod form of the inference backend's contract; both sides parse with it. */
export const healthReply = z
  .object({
    status: z.literal('ok'),
    scenes: z.array(
      z.object({
        scene_code: z.string(),
        labels: z.array(z.string()),
        lower_bound: z.number(),
        model: z.string().describe('Name and version of what serves the scene'),
        calibration: z
          .string()
          .optional()
          .describe('Version of the calibration of its scores; without one they are as the model gives them'),
      }),
    ),
  })
  .meta({ id: 'BackendHealth' });

export const streamSource = z
  .strictObject({
    kind: z.literal('stream'),
    url: z.string().min(1),
    pinned_address: z.string().optional().describe('The IP address that passed the safety check; connected to first'),
  })
  .meta({ id: 'StreamSource' });
export const objectSource = z
  .strictObject({
    kind: z.literal('object'),
    bucket: z.string().min(1),
    key: z.string().min(1),
  })
  .meta({ id: 'ObjectSource' });
export const jobSource = z.discriminatedUnion('kind', [streamSource, objectSource]).meta({ id: 'JobSource' });

export const newJob = z
  .strictObject({
    job_id: z.string().min(1),
    scene_code: z.string().min(1),
    lower_bound: z.number().min(0).max(1).describe('Detections below it are not published'),
    source: jobSource,
    snapshots: z
      .literal('tracks')
      .optional()
      .describe(
        'Images of the video can be asked for. Sent only to a backend whose `features` name `snapshots`; left out: none ' +
          'are decoded or stored',
      ),
    give_up_after_s: z
      .int()
      .min(giveUpBounds.minS)
      .max(giveUpBounds.maxS)
      .optional()
      .describe(
        'Time without a frame after which the job of a live stream fails. Sent only to a backend whose `features` name ' +
          '`give_up`; left out: a time of the backend',
      ),
  })
  .refine(({ source, give_up_after_s: seconds }) => seconds === undefined || source.kind === 'stream')
  .meta({ id: 'NewJob' });

export const jobStatus = z
  .enum(['queued', 'running', 'stopping', 'stopped', 'succeeded', 'failed'])
  .meta({ id: 'JobStatus' });

export const job = z
  .object({
    job_id: z.string(),
    status: jobStatus,
    frames_published: z.int().min(0),
    attempt: z
      .int()
      .min(0)
      .optional()
      .describe(
        'The current attempt; of an ended job the one with the last end-of-stream marker. Absent: no worker claimed it',
      ),
    frames_dropped: z
      .int()
      .min(0)
      .optional()
      .describe('Frames of a live stream that were read and could not be published; left out when there are none'),
    behind_since: z
      .string()
      .optional()
      .describe('Start of the time in which a live stream is below its frame rate; left out while it is not'),
    error: z.string().optional(),
  })
  .meta({ id: 'Job' });
export const jobList = z.object({ jobs: z.array(job) }).meta({ id: 'JobList' });

/** A page of the jobs that have not ended, in the order of their ids. */
export const activeJobs = jobList
  .extend({ next_cursor: z.string().describe('Empty on the last page') })
  .meta({ id: 'ActiveJobs' });
export const activeJobsPath = '/v1/active-jobs';

const jobsByKind = z.object({
  stream: z.int().min(0).describe('Live streams'),
  object: z.int().min(0).describe('Uploaded videos'),
});
export const capacityReply = z
  .object({
    free: jobsByKind.describe('Jobs that could begin now; those of one kind take room from the other'),
    places: jobsByKind.describe('Jobs that can be at work together'),
    features: z
      .array(z.string().max(40))
      .max(100)
      .optional()
      .describe('Optional parts of this contract that the backend has; left out: none. Unknown names are ignored'),
  })
  .meta({ id: 'BackendCapacity' });

/** A frame of a live stream as an image. */
export const jobSnapshot = z
  .object({
    frame_time_ms: z.int().min(0).describe('Time of the frame, as that of result frames'),
    width: z.int().min(1),
    height: z.int().min(1),
    media_type: z.literal('image/jpeg'),
    data: z.base64().max(16_000_000).describe('The image, in base64'),
  })
  .meta({ id: 'JobSnapshot' });

export const detection = z.object({ image: imageSize, objects: z.array(detectedObject) }).meta({ id: 'Detection' });

/** Feature of a backend that takes `give_up_after_s` of a job. */
export const giveUpFeature = 'give_up';

/** Feature of a backend that reads streams for probes. */
export const streamProbesFeature = 'stream_probes';
export const streamProbesPath = '/v1/stream-probes';

/** A live stream to read for a moment, without a job. */
export const newStreamProbe = z
  .strictObject({
    url: z.string().min(1),
    pinned_address: z.string().optional().describe('The IP address that passed the safety check; connected to'),
    scene_code: z.string().min(1).optional().describe('Scene to detect the frame with; left out: nothing is detected'),
    min_score: z.number().min(0).max(1).optional().describe('Detections with a lower score are left out'),
    snapshot: z.boolean().describe('Whether the answer holds the frame'),
    within_ms: z.int().min(1).max(60_000).describe('Time after which the stream is read no longer'),
  })
  .meta({ id: 'NewStreamProbe' });

export const streamProbeProblems = ['auth_failed', 'codec_unsupported', 'no_video_track', 'no_frame'] as const;

/** A frame as an image, in base64. */
export const snapshot = z
  .object({
    media_type: z.literal('image/jpeg'),
    data: z.base64().max(16_000_000).describe('Image in base64, its longest side 1280 pixels at most'),
  })
  .meta({ id: 'Snapshot' });

export const streamProbeReply = z
  .object({
    codec: z.string().max(40).optional().describe('Left out when no frame was decoded, as `image`'),
    image: imageSize.optional(),
    fps: z.number().min(0).max(1_000).optional().describe('Left out when fewer than two frames came'),
    snapshot: snapshot.optional(),
    objects: z.array(detectedObject).optional().describe('With `scene_code`'),
    problem: z
      .object({ reason: z.string().describe(`One of ${streamProbeProblems.join(', ')}; another counts as no_frame`) })
      .optional()
      .describe('Why there is no frame; left out when there is one'),
  })
  .meta({ id: 'StreamProbeReply' });

/**
 * Header of a request with an image or a stream probe: an opaque name of its owner, for fair queueing, so that images
 * of one owner do not delay those of others. A backend may ignore it.
 */
export const ownerHeader = 'x-picture-owner';

/**
 * Header of a response to images, stream probes and submitted jobs, refusals included: processor time in milliseconds
 * to decode each image, separated by commas, or to inspect a video or a stream. A backend may omit it. The images and
 * tasks services pass it on to the gateway, which removes it.
 */
export const processorTimeHeader = 'x-processor-time-ms';

/** Reads that header. Invalid values are ignored. */
export function processorTimesOf(header: string | string[] | undefined): number[] {
  const times = String(header ?? '')
    .split(',')
    .map(Number);
  return times.filter((time) => time > 0 && time < 3_600_000);
}

/** A body that guarantees that nothing was created. */
export const refusal = z.object({ reason: z.string() }).meta({ id: 'Refusal' });

export type ActiveJobs = z.infer<typeof activeJobs>;
export type CapacityReply = z.infer<typeof capacityReply>;
export type HealthReply = z.infer<typeof healthReply>;
export type JobSource = z.infer<typeof jobSource>;
export type NewJob = z.infer<typeof newJob>;
export type JobStatus = z.infer<typeof jobStatus>;
export type Job = z.infer<typeof job>;
export type JobSnapshot = z.infer<typeof jobSnapshot>;
export type Detection = z.infer<typeof detection>;
export type NewStreamProbe = z.infer<typeof newStreamProbe>;
export type Snapshot = z.infer<typeof snapshot>;
export type StreamProbeReply = z.infer<typeof streamProbeReply>;
export type Refusal = z.infer<typeof refusal>;
