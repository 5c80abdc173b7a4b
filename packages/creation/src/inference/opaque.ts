import { createHash } from 'node:crypto';

/** A name for a subject that tells the backend one owner from another and nothing else. */
export const opaque = (subject: string) => createHash('sha256').update(subject).digest('hex').slice(0, 32);
