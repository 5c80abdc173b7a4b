import { z } from 'zod';

/** `GET /internal/v1/tasks/{task_id}/stored-frames` of the results service: how many frames of a task can be read. */
export const storedFramesReply = z.object({ frames_stored: z.int().min(0) });
