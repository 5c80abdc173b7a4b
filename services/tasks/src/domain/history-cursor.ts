import { fail } from '@vision/contracts/errors';
import type { SecretBox } from '@vision/shared/secret-box';

const LABEL = 'history-cursor';

/** Where a page of the history ended: opaque, signed, and of use to its subject alone. */
export function historyCursor(box: Pick<SecretBox, 'digest'>, subject: string, lastTaskId: string): string {
  const digest = box.digest(`${subject}|${lastTaskId}`, LABEL);
  return encode(lastTaskId, digest);
}

/** @throws AppError OP-TASK-REQUEST-INVALID `cursor_invalid` for a cursor that was forged or is another subject's. */
export function readHistoryCursor(box: Pick<SecretBox, 'matches'>, subject: string, cursor: string): string {
  const [taskId = '', digest = ''] = Buffer.from(cursor, 'base64url').toString('utf8').split('|');
  // Exactly one text stands for each cursor: the decoder would also take other alphabets, padding and blanks.
  if (encode(taskId, digest) === cursor && box.matches(digest, `${subject}|${taskId}`, LABEL)) return taskId;
  throw fail.requestInvalid('cursor_invalid', 'Use a next_cursor of this list.', { field: 'cursor' });
}

function encode(taskId: string, digest: string): string {
  return Buffer.from(`${taskId}|${digest}`).toString('base64url');
}
