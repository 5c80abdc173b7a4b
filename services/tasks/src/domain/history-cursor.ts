import { fail } from '@vision/contracts/errors';
import type { SecretBox } from '@vision/shared/secret-box';

const LABEL = 'history-cursor';

/** A list of the history: its subject and its order. Filters may change from page to page. */
export interface HistoryList {
  subject: string;
  order: 'newest' | 'oldest';
}

/** End of a page of the history: opaque, signed, and valid only for its subject and its order. */
export function historyCursor(box: Pick<SecretBox, 'digest'>, list: HistoryList, lastTaskId: string): string {
  return encode(lastTaskId, box.digest(signed(list, lastTaskId), LABEL));
}

/**
 * The last task of the previous page.
 * @throws AppError OP-TASK-REQUEST-INVALID `cursor_invalid` for a cursor that is forged, or that has another subject or
 * order.
 */
export function readHistoryCursor(box: Pick<SecretBox, 'matches'>, list: HistoryList, cursor: string): string {
  const [taskId = '', digest = ''] = Buffer.from(cursor, 'base64url').toString('utf8').split('|');
  // Each cursor has exactly one text: the decoder would also accept other alphabets, padding and blanks.
  if (encode(taskId, digest) === cursor && box.matches(digest, signed(list, taskId), LABEL)) return taskId;
  throw fail.requestInvalid(
    'cursor_invalid',
    'cursor: send the next_cursor of an earlier page of this list, with the same order.',
    {
      field: 'cursor',
    },
  );
}

// In the other order, a page would silently omit all tasks on the other side of the cursor. A cursor of the default
// order is signed as it was before there were two orders, so cursors of an older replica stay valid.
const signed = ({ subject, order }: HistoryList, taskId: string) =>
  `${subject}|${taskId}${order === 'newest' ? '' : `|${order}`}`;

function encode(taskId: string, digest: string): string {
  return Buffer.from(`${taskId}|${digest}`).toString('base64url');
}
