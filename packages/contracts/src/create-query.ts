import { z } from 'zod';

/** The form of a caller's own name for a camera or an order. No character of it separates anything of ours. */
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

/** Whether images of a video are created and stored for its caller. */
export const snapshotMode = z.enum(['off', 'tracks']);

/** The query of the operations that create a video task. */
export const createVideoQuery = createQuery.extend({
  snapshots: snapshotMode
    .optional()
    .describe(
      'Whether images of the video are available while the task runs: `tracks` or `off`. It applies to the task from ' +
        'beginning to end. Without it, the setting of the subject applies (`/v1/vision/settings`). It is part of the ' +
        'request: a repeat with another value is rejected.',
    ),
});

/**
 * Begins the text that two requests with one Idempotency-Key are compared by. Without parameters it is the text of
 * releases that know none, so that keys of before an upgrade still match.
 */
export function meaningPrefix(query: CreateVideoQuery): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return 'v1';
  return `v2|${given
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join('&')}`;
}

export type CreateQuery = z.infer<typeof createQuery>;
export type CreateVideoQuery = z.infer<typeof createVideoQuery>;
export type SnapshotMode = z.infer<typeof snapshotMode>;
