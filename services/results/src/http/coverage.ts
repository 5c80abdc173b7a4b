import { z } from 'zod';
import type { Coverage } from '../domain/fold/coverage.ts';

const time = z.int().meta({ format: 'int64' });

/** Coverage of a period by frames. */
export const coverage = z
  .object({
    from_ms: time.describe('Start of the time, as `frame_time_ms`'),
    to_ms: time.describe('End of the time, exclusive'),
    covered_ms: z.int().min(0).describe('Time with frames, in milliseconds'),
    gaps: z.int().min(0).describe('Number of gaps: stretches without frames'),
  })
  .meta({ id: 'Coverage', description: 'Share of a period that has frames, within the time of the task' });

/** Coverage in the form of the API. */
export const coverageBody = ({ fromMs, toMs, coveredMs, gapCount }: Coverage): z.infer<typeof coverage> => ({
  from_ms: fromMs,
  to_ms: toMs,
  covered_ms: coveredMs,
  gaps: gapCount,
});
