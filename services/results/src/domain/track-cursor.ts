import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { cursorInvalid } from './cursor.ts';
import { isTrackId } from './fold/tracks.ts';
import { trackOrders } from './track-query.ts';
import type { TrackKey, TrackOrder } from './track-query.ts';

export interface TrackCursorCodec {
  encode: (taskId: string, order: TrackOrder, key: TrackKey) => string;
  /** @throws AppError OP-TASK-REQUEST-INVALID (`cursor_invalid`) for anything not issued for this task and order. */
  decode: (taskId: string, order: TrackOrder, cursor: string) => TrackKey;
}

const VERSION = 1;
const HEAD_BYTES = 10;
const MAC_BYTES = 16;

/** Cursors of lists of tracks. They are not valid as cursors of results, or vice versa. */
export function trackCursorCodec(secrets: string[]): TrackCursorCodec {
  const macs = secrets.map(macWith);
  const [seal] = macs;
  if (!seal) throw new Error('no secret');
  return {
    encode: (taskId, order, { value, trackId }) => {
      const head = Buffer.alloc(HEAD_BYTES);
      head.writeUInt8(VERSION, 0);
      head.writeUInt8(trackOrders.indexOf(order), 1);
      head.writeBigInt64BE(BigInt(value), 2);
      const body = Buffer.concat([head, Buffer.from(trackId)]);
      return Buffer.concat([body, seal(taskId, body)]).toString('base64url');
    },
    decode: (taskId, order, cursor) => {
      const bytes = /^[\w-]{35,120}$/.test(cursor) ? Buffer.from(cursor, 'base64url') : undefined;
      // Exactly one text is valid for each cursor: the decoder would also accept other alphabets and unused bits.
      if (bytes === undefined || bytes.toString('base64url') !== cursor) throw cursorInvalid();
      const body = bytes.subarray(0, -MAC_BYTES);
      const given = bytes.subarray(-MAC_BYTES);
      const trackId = body.toString('utf8', HEAD_BYTES);
      const isOurs = macs.some((mac) => timingSafeEqual(given, mac(taskId, body)));
      if (!isOurs || body[0] !== VERSION || trackOrders[body[1] ?? -1] !== order) throw cursorInvalid();
      if (trackId !== '' && !isTrackId(trackId)) throw cursorInvalid();
      return { value: Number(body.readBigInt64BE(2)), trackId };
    },
  };
}

function macWith(secret: string) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'vision tracks cursor v1', 32));
  return (taskId: string, body: Buffer): Buffer =>
    createHmac('sha256', key).update(taskId.toLowerCase()).update(body).digest().subarray(0, MAC_BYTES);
}
