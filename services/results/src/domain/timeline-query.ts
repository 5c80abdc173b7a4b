import { fail } from '@vision/contracts/errors';
import type { Span } from './fold/coverage.ts';
import { BIN_MILLIONTHS } from './fold/minutes.ts';
import { invalid, oneOf, parseRange, parseScore, readerOf } from './query-text.ts';

const NAMES = ['from_ms', 'to_ms', 'bucket_ms', 'min_score'] as const;

/** Buckets that are made of stored minutes; the smallest one is counted from frames. */
const FOLDED_BUCKETS = [60_000, 300_000, 900_000, 3_600_000, 86_400_000];
export const SECOND_BUCKET = 1_000;
export const BUCKETS = [SECOND_BUCKET, ...FOLDED_BUCKETS];
export const MAX_BUCKETS = 2_500;
/** The longest range of a stream in buckets of a second. */
const MOST_SECONDS = 600;

/** Validated query of a timeline. The score is in millionths. */
export interface TimelineRequest {
  fromMs: number | undefined;
  toMs: number | undefined;
  bucketMs: number | undefined;
  minScore: number | undefined;
}

/**
 * Validates the query of a timeline.
 * @throws AppError OP-TASK-REQUEST-INVALID with `details.field`.
 */
export function parseTimelineQuery(query: Record<string, unknown>): TimelineRequest {
  const text = readerOf(query, NAMES);
  const bucket = text('bucket_ms');
  const minScore = parseScore(text('min_score'));
  if (minScore !== undefined && (minScore % BIN_MILLIONTHS !== 0 || minScore === 1_000_000))
    throw invalid('min_score', 'send a multiple of 0.05 from 0 to 0.95');
  return {
    ...parseRange(text('from_ms'), text('to_ms')),
    bucketMs: bucket === undefined ? undefined : Number(oneOf(bucket, 'bucket_ms', BUCKETS.map(String))),
    minScore,
  };
}

export interface TimelineRange extends Span {
  bucketMs: number;
}

/**
 * The whole buckets that contain the requested times. Defaults come from `life`, the times of the task; the default
 * bucket is the smallest one that is made of stored minutes.
 * @throws AppError OP-TASK-REQUEST-INVALID (`too_many_buckets`)
 */
export function rangeOf(
  { fromMs, toMs, bucketMs }: TimelineRequest,
  life: Span,
  kind: 'stream' | 'upload',
): TimelineRange {
  const from = fromMs ?? Math.min(life.fromMs, toMs ?? Infinity);
  const to = Math.max(toMs ?? life.toMs, from);
  const most = (bucket: number) => (bucket === SECOND_BUCKET && kind === 'stream' ? MOST_SECONDS : MAX_BUCKETS);
  const fits = (bucket: number) => Math.ceil(to / bucket) - Math.floor(from / bucket) <= most(bucket);
  const bucket = bucketMs ?? FOLDED_BUCKETS.find(fits);
  if (bucket === undefined || !fits(bucket)) throw tooManyBuckets(most(bucket ?? 0));
  return { fromMs: Math.floor(from / bucket) * bucket, toMs: Math.ceil(to / bucket) * bucket, bucketMs: bucket };
}

/** Error for a range with too many buckets. */
export const tooManyBuckets = (most = MAX_BUCKETS) =>
  fail.requestInvalid(
    'too_many_buckets',
    `At most ${most} buckets of this size; send a larger bucket_ms or a shorter time.`,
    {
      field: 'bucket_ms',
    },
  );
