import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { fail } from '@vision/contracts/errors';

/**
 * Progress of a reader: it has every frame with a number up to `seq` that was stored at one of the first `position`
 * positions of its task. Frames that are stored later with a smaller number (as replayed dead letters) have a position
 * after `position`, so they are found as well.
 */
export interface Progress {
  seq: number;
  position: number;
}

export const nothingRead: Progress = { seq: -1, position: 0 };

/** A number above that of every frame. */
const AFTER_END = 2_147_483_647;

/** The progress of a reader that has everything of an ended task, and has received its end. */
export const afterEnd = ({ position }: Progress): Progress => ({ seq: AFTER_END, position });

/** Whether a reader has received the end of its task. */
export const isAfterEnd = ({ seq }: Progress): boolean => seq === AFTER_END;

export interface CursorCodec {
  encode: (taskId: string, progress: Progress) => string;
  /** @throws AppError OP-TASK-REQUEST-INVALID (`cursor_invalid`) for anything that was not issued for this task. */
  decode: (taskId: string, cursor: string) => Progress;
}

const BODY_BYTES = 13;
const MAC_BYTES = 16;
const VERSION = 1;

/**
 * Cursors carry a MAC over task and progress, so they cannot be forged or used for another task. The first secret
 * signs, all of them verify. Each kind of list has its own label: a cursor of one kind is not valid for another.
 */
export function cursorCodec(secrets: string[], label = 'vision results cursor v1'): CursorCodec {
  const macs = secrets.map((secret) => macWith(secret, label));
  const [seal] = macs;
  if (!seal) throw new Error('no secret');
  return {
    encode: (taskId, { seq, position }) => {
      const body = Buffer.alloc(BODY_BYTES);
      body.writeUInt8(VERSION, 0);
      body.writeInt32BE(seq, 1);
      body.writeBigInt64BE(BigInt(position), 5);
      return Buffer.concat([body, seal(taskId, body)]).toString('base64url');
    },
    decode: (taskId, cursor) => {
      // Exactly one text is valid for each cursor: the decoder would also accept other alphabets, padding and blanks.
      const bytes = /^[\w-]{39}$/.test(cursor) ? Buffer.from(cursor, 'base64url') : undefined;
      if (bytes?.length !== BODY_BYTES + MAC_BYTES || bytes.toString('base64url') !== cursor) throw cursorInvalid();
      const body = bytes.subarray(0, BODY_BYTES);
      const given = bytes.subarray(BODY_BYTES);
      const isOurs = macs.some((mac) => timingSafeEqual(given, mac(taskId, body)));
      if (!isOurs || body[0] !== VERSION) throw cursorInvalid();
      return { seq: body.readInt32BE(1), position: Number(body.readBigInt64BE(5)) };
    },
  };
}

function macWith(secret: string, label: string) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', label, 32));
  return (taskId: string, body: Buffer): Buffer =>
    createHmac('sha256', key).update(taskId.toLowerCase()).update(body).digest().subarray(0, MAC_BYTES);
}

/** Error for a cursor that was changed, or that was issued for another task. */
export const cursorInvalid = () =>
  fail.requestInvalid(
    'cursor_invalid',
    'cursor: send the cursor of an earlier page of this list and task, with the same order, or the id of an event.',
    { field: 'cursor' },
  );
