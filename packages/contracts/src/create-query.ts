import { z } from 'zod';

/** A caller's own name for a camera or an order. It cannot contain characters that we use as separators. */
export const clientRef = z.string().regex(/^[A-Za-z0-9._:-]{1,64}$/);

/** Query parameters of the operations that create a task or an image call. They are part of the request's meaning. */
export const createQuery = z.strictObject({
  client_ref: clientRef
    .optional()
    .describe(
      'Name of your own for a camera or an order. The task list shows it and filters by it. It is part of the request: ' +
        'a repeat with another value is rejected.',
    ),
});

/** Whether images of a video's tracks are created and stored for its caller. */
export const snapshotMode = z.enum(['off', 'tracks']);

/** The query of the operations that create a video task. */
export const createVideoQuery = createQuery.extend({
  snapshots: snapshotMode
    .optional()
    .describe(
      '`tracks`: an image of each track is stored and, for streams, live snapshots are answered. `off`: neither. It ' +
        'cannot be changed later. Without it, the setting of the subject applies (`/v1/vision/settings`). It is part of ' +
        'the request: a repeat with another value is rejected.',
    ),
});

/** Bounds of `give_up_after_s`: a minute to a day. */
export const giveUpBounds = { minS: 60, maxS: 86_400 };

/** Accepts digits only: `Number` accepts many more forms. */
const toNumber = (value: unknown) => (typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : value);

/** The query of the operation that creates a task for a live stream. */
export const createStreamQuery = createVideoQuery.extend({
  give_up_after_s: z
    .preprocess(toNumber, z.int().min(giveUpBounds.minS).max(giveUpBounds.maxS))
    .optional()
    .meta({ type: 'integer', minimum: giveUpBounds.minS, maximum: giveUpBounds.maxS })
    .describe(
      'Time without a frame after which the task fails with `source_lost`, in seconds, 60 to 86400. By default 600 ' +
        '(`SOURCE_GIVE_UP_MS` of the operator). After ten minutes without a frame the task stays `running` but holds no ' +
        'capacity: the service connects about once a minute, when there is capacity for it. `GET …/source` ' +
        'says when the last frame came and when the task fails: after ten minutes where the inference backend does not ' +
        'have this feature, as during an upgrade. It is part of the request: a repeat with another value ' +
        'is rejected.',
    ),
});

/**
 * Prefix of the text by which two requests with the same Idempotency-Key are compared. Without parameters it equals the
 * prefix of releases without parameters, so that keys from before an upgrade still match.
 */
export function meaningPrefix(query: CreateStreamQuery): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return 'v1';
  return `v2|${given
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join('&')}`;
}

export type CreateQuery = z.infer<typeof createQuery>;
export type CreateVideoQuery = z.infer<typeof createVideoQuery>;
export type CreateStreamQuery = z.infer<typeof createStreamQuery>;
export type SnapshotMode = z.infer<typeof snapshotMode>;
