import { z } from 'zod';

const bound = (fallback: number, most: number) => z.int().min(0).max(most).default(fallback);

/** What one subject may do; an operator changes it per subject. Carried in the gateway's service tokens. */
export const subjectLimits = z.object({
  video_tasks_per_day: bound(5, 1_000_000),
  images_per_day: bound(100, 10_000_000),
  requests_per_second: z.number().min(0.1).max(100_000).default(100),
  burst: bound(200, 1_000_000),
  active_tasks: bound(10, 1_000_000).describe('Video tasks not yet ended'),
  image_calls: bound(20, 10_000).describe('Image calls in flight'),
  video_uploads: bound(2, 10_000).describe('Video uploads in flight'),
  video_downloads: bound(4, 10_000).describe('Downloads of uploaded videos in flight'),
  stream_probes: bound(2, 10_000).describe('Stream probes in flight'),
  event_streams: bound(20, 10_000).describe('Open event streams'),
  webhook_endpoints: bound(20, 10_000).describe('Webhook endpoints'),
  alarm_backtests: bound(2, 10_000).describe('Backtests of alarm rules in flight'),
  alarm_rules: bound(200, 1_000).describe('Alarm rules'),
});

export type SubjectLimits = z.infer<typeof subjectLimits>;
/** The limits of a subject for which nothing was set. */
export const defaultLimits: SubjectLimits = subjectLimits.parse({});
