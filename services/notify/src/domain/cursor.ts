import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { fail } from '@vision/contracts/errors';
import { eventOrders } from './event-query.ts';
import type { EventOrder } from './event-query.ts';

/** Position of a reader in a log. */
export interface EventPlace {
  order: EventOrder;
  /** The last event that the reader has. */
  position: number;
  /** The newest event when it began to read backwards: later ones are read forwards. `HAS_READ` forwards. */
  head: number;
}

/** The reader has the event at the position. Cursors of earlier releases do not have this value. */
export const HAS_READ = -1;

/** The position of a reader that has an event, and continues after it. */
export const placeBehind = (position: number): EventPlace => ({ order: 'oldest', position, head: HAS_READ });

export interface EventCursorCodec {
  encode: (subject: string, place: EventPlace) => string;
  /** @throws AppError OP-TASK-REQUEST-INVALID (`cursor_invalid`) for anything that was not issued for this subject. */
  decode: (subject: string, cursor: string) => EventPlace;
}

const VERSION = 1;
const BODY_BYTES = 18;
const MAC_BYTES = 16;
const TEXT = /^[\w-]{46}$/;

const EVENTS = 'vision events cursor v1';
/** Label of cursors of the list of alarms, which are valid for no other list. */
export const ALARM_CURSORS = 'vision alarms cursor v1';

/**
 * Cursors carry a MAC over subject and position, so they cannot be forged or used for another subject or another list
 * (`label`). The first secret signs, all of them verify.
 */
export function eventCursorCodec(secrets: string[], label = EVENTS): EventCursorCodec {
  const macs = secrets.map((secret) => macWith(secret, label));
  const [seal] = macs;
  if (!seal) throw new Error('no secret');
  return {
    encode: (subject, { order, position, head }) => {
      const body = Buffer.alloc(BODY_BYTES);
      body.writeUInt8(VERSION, 0);
      body.writeUInt8(eventOrders.indexOf(order), 1);
      body.writeBigInt64BE(BigInt(position), 2);
      body.writeBigInt64BE(BigInt(head), 10);
      return Buffer.concat([body, seal(subject, body)]).toString('base64url');
    },
    decode: (subject, cursor) => {
      // Exactly one text is valid for each cursor: the decoder would also accept other alphabets, padding and blanks.
      const bytes = TEXT.test(cursor) ? Buffer.from(cursor, 'base64url') : undefined;
      if (bytes?.length !== BODY_BYTES + MAC_BYTES || bytes.toString('base64url') !== cursor) throw cursorInvalid();
      const body = bytes.subarray(0, BODY_BYTES);
      const given = bytes.subarray(BODY_BYTES);
      const isOurs = macs.some((mac) => timingSafeEqual(given, mac(subject, body)));
      const order = eventOrders[body.readUInt8(1)];
      if (!isOurs || body[0] !== VERSION || order === undefined) throw cursorInvalid();
      return { order, position: Number(body.readBigInt64BE(2)), head: Number(body.readBigInt64BE(10)) };
    },
  };
}

function macWith(secret: string, label: string) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', label, 32));
  return (subject: string, body: Buffer): Buffer =>
    createHmac('sha256', key).update(body).update(subject).digest().subarray(0, MAC_BYTES);
}

/** Error for a cursor that was changed, or that belongs to another subject or order. */
export const cursorInvalid = () =>
  fail.requestInvalid(
    'cursor_invalid',
    'cursor: send the cursor of an earlier page of this list, with the same order, or the id of an event of its stream.',
    {
      field: 'cursor',
    },
  );
