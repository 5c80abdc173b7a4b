import { fail } from '@vision/contracts/errors';
import type { SecretBox } from '@vision/shared/secret-box';

const LABEL = 'history-cursor';

/** A list of the history: whose it is, and in which order. Filters may change from page to page. */
export interface HistoryList {
  subject: string;
  order: 'newest' | 'oldest';
}

/** Where a page of the history ended: opaque, signed, and of use to its subject and in its order alone. */
export function historyCursor(box: Pick<SecretBox, 'digest'>, list: HistoryList, lastTaskId: string): string {
  return encode(lastTaskId, box.digest(signed(list, lastTaskId), LABEL));
}

/**
 * The last task of the page before.
 * @throws AppError OP-TASK-REQUEST-INVALID `cursor_invalid` for a cursor that was forged, is another subject's, or has
 * another order.
 */
export function readHistoryCursor(box: Pick<SecretBox, 'matches'>, list: HistoryList, cursor: string): string {
  const [taskId = '', digest = ''] = Buffer.from(cursor, 'base64url').toString('utf8').split('|');
  // Exactly one text stands for each cursor: the decoder would also take other alphabets, padding and blanks.
  if (encode(taskId, digest) === cursor && box.matches(digest, signed(list, taskId), LABEL)) return taskId;
  throw fail.requestInvalid(
    'cursor_invalid',
    'cursor: send the next_cursor of an earlier page of this list, with the same order.',
    {
      field: 'cursor',
    },
  );
}

// In the other order, a page would leave out all tasks on the other side of the cursor, and nothing would show it. A
// cursor of the default order is signed as before there were two, so those of an older replica stay valid.
const signed = ({ subject, order }: HistoryList, taskId: string) =>
  `${subject}|${taskId}${order === 'newest' ? '' : `|${order}`}`;

function encode(taskId: string, digest: string): string {
  return Buffer.from(`${taskId}|${digest}`).toString('base64url');
}
