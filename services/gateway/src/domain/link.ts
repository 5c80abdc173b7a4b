import { z } from 'zod';
import type { SecretBox } from '@vision/shared/secret-box';

/** Target of a link: one path, read as one subject, while the key that created it is valid. */
export interface Link {
  subject: string;
  keyId: string;
  path: string;
  /** Milliseconds since 1970. */
  endsAt: number;
}

/** Longest and shortest time that a link is valid for, in seconds. */
export const LINK_SECONDS = { least: 60, most: 86_400 } as const;

const CONTEXT = 'link';
const content = z.tuple([z.string(), z.string(), z.string(), z.int()]);

/** The token of a link. It is encrypted, so it reveals neither the subject nor the task to its holder. */
export function sealLink(box: SecretBox, { subject, keyId, path, endsAt }: Link): string {
  return box.seal(JSON.stringify([subject, keyId, path, endsAt]), CONTEXT).toString('base64url');
}

/** The link of a token; undefined when it was changed, has expired, or was encrypted with an unknown key. */
export function openLink(box: SecretBox, token: string, now: number): Link | undefined {
  const bytes = Buffer.from(token, 'base64url');
  // Other spellings of the same bytes are other tokens, which were never issued.
  if (bytes.toString('base64url') !== token) return undefined;
  try {
    const [subject, keyId, path, endsAt] = content.parse(JSON.parse(box.open(bytes, CONTEXT)));
    return endsAt > now ? { subject, keyId, path, endsAt } : undefined;
  } catch {
    return undefined;
  }
}
