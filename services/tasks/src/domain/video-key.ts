/** Below this prefix of the object store lies every uploaded video. */
export const VIDEO_PREFIX = 'videos/';

/** Where the uploaded video of a task lies. */
export const videoKeyOf = (taskId: string): string => VIDEO_PREFIX + taskId;
