/**
 * Longest silence of the object store on a connection: longer than the ten seconds between two blanks of a store that
 * assembles the parts of a large upload (MinIO). Services whose callers wait for less time have a smaller one.
 */
export const S3_IDLE_MS = 15_000;
