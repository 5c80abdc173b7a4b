import { z } from 'zod';
import { taskPath } from './ids.ts';
import { imageCallSnapshot } from './image-events.ts';
import { defineQuestion } from './question.ts';

/** Is this id an image call of the subject of the token? The reply is the call as its event tells it. */
export const getImageCall = defineQuestion({
  method: 'get',
  path: '/internal/v1/image-calls/{task_id}',
  params: taskPath,
  reply: imageCallSnapshot.extend({ kind: z.literal('image') }).meta({ id: 'ImageCallRecord' }),
  refusals: ['not_found'],
});
