/** Prefix of all uploaded videos in the object store. */
export const VIDEO_PREFIX = 'videos/';

/** Object key of a new uploaded video; for a stored video, the key in its task counts. */
export const videoKeyOf = (ownPrefix: string, taskId: string): string => ownPrefix + taskId;

/** The task id at the end of a key. */
export const taskOfVideo = (key: string): string => key.slice(key.lastIndexOf('/') + 1);
