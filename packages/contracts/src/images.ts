import { z } from 'zod';
import { taskPath } from './ids.ts';
import { imageCallSnapshot } from './image-events.ts';
import { defineQuestion } from './question.ts';

/** Most images of one image call (spec 4.6). */
export const MAX_IMAGES = 10;

/**
 * Header of the answer to a new image call: how many of its images were refused because they cannot be read. Images
 * tells the gateway, which keeps it. A replay has none.
 */
export const refusedImagesHeader = 'x-refused-pictures';

/** Reads that header. What makes no sense counts as none, and no call refuses more images than it may have. */
export function refusedImagesOf(header: string | string[] | undefined): number {
  const text = String(header ?? '');
  return /^\d+$/.test(text) ? Math.min(Number(text), MAX_IMAGES) : 0;
}

/** Is this id an image call of the subject of the token? The reply is the call as its event tells it. */
export const getImageCall = defineQuestion({
  method: 'get',
  path: '/internal/v1/image-calls/{task_id}',
  params: taskPath,
  reply: imageCallSnapshot.extend({ kind: z.literal('image') }).meta({ id: 'ImageCallRecord' }),
  refusals: ['not_found'],
});

/** Remove image calls that their owners have deleted. The reply names those of which nothing is left. */
export const deleteImageCalls = defineQuestion({
  method: 'post',
  path: '/internal/v1/deleted-image-calls',
  body: z.object({ task_ids: z.array(z.uuid()).min(1).max(100) }),
  reply: z.object({ task_ids: z.array(z.uuid()) }).meta({ id: 'DeletedImageCalls' }),
});
