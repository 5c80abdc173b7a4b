/** Below this prefix of the object store lies every uploaded video. */
export const VIDEO_PREFIX = 'videos/';

/** Where a new uploaded video lies; one that is stored lies where its task says. */
export const videoKeyOf = (ownPrefix: string, taskId: string): string => ownPrefix + taskId;

/** The task whose id a key ends with. */
export const taskOfVideo = (key: string): string => key.slice(key.lastIndexOf('/') + 1);
