import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { fail } from '@vision/contracts/errors';
import { deliveryStates } from './delivery.ts';
import type { DeliveryState } from './delivery.ts';

export const DEFAULT_DELIVERIES = 100;
export const MAX_DELIVERIES = 500;

export interface DeliveryQuery {
  cursor: string | undefined;
  limit: number;
  /** All states when undefined. */
  state: DeliveryState | undefined;
}

const NAMES = ['cursor', 'limit', 'state'];

/**
 * Validates the query of a page of deliveries.
 * @throws AppError OP-TASK-REQUEST-INVALID with `details.field`.
 */
export function parseDeliveryQuery(query: Record<string, unknown>): DeliveryQuery {
  const unknown = Object.keys(query).find((name) => !NAMES.includes(name));
  if (unknown !== undefined)
    throw fail.requestInvalid('unknown_field', `Only ${NAMES.join(', ')} are accepted.`, {
      field: unknown.slice(0, 200),
    });
  const state = textOf(query, 'state');
  const found = deliveryStates.find((one) => one === state);
  if (state !== undefined && found === undefined) throw invalid('state', `send one of ${deliveryStates.join(', ')}`);
  return { cursor: textOf(query, 'cursor') || undefined, limit: limitOf(textOf(query, 'limit')), state: found };
}

function textOf(query: Record<string, unknown>, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || typeof value === 'string') return value;
  throw invalid(name, 'send it once');
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_DELIVERIES;
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= MAX_DELIVERIES) return value;
  throw invalid('limit', `send a whole number from 1 to ${MAX_DELIVERIES}`);
}

const invalid = (field: string, rule: string) => fail.requestInvalid('query_invalid', `${field}: ${rule}.`, { field });

/** Cursor codec of pages of deliveries; a cursor is valid for one endpoint only. */
export interface DeliveryCursorCodec {
  encode: (endpointKey: string, lastDeliveryId: string) => string;
  /** @throws AppError OP-TASK-REQUEST-INVALID (`cursor_invalid`) for anything that was not issued for this endpoint. */
  decode: (endpointKey: string, cursor: string) => string;
}

const ID_BYTES = 16;
const MAC_BYTES = 16;

/** Cursors carry a MAC over endpoint and position. The first secret signs, all of them verify. */
export function deliveryCursorCodec(secrets: string[]): DeliveryCursorCodec {
  const macs = secrets.map(macWith);
  const [seal] = macs;
  if (!seal) throw new Error('no secret');
  return {
    encode: (endpointKey, lastDeliveryId) => {
      const id = Buffer.from(lastDeliveryId.replaceAll('-', ''), 'hex');
      return Buffer.concat([id, seal(endpointKey, id)]).toString('base64url');
    },
    decode: (endpointKey, cursor) => {
      const bytes = Buffer.from(cursor.slice(0, 100), 'base64url');
      const id = bytes.subarray(0, ID_BYTES);
      // Exactly one text is valid for each cursor: the decoder would also accept other alphabets, padding and blanks.
      const isWhole = bytes.length === ID_BYTES + MAC_BYTES && bytes.toString('base64url') === cursor;
      if (!isWhole || !macs.some((mac) => timingSafeEqual(bytes.subarray(ID_BYTES), mac(endpointKey, id))))
        throw deliveryCursorInvalid();
      return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    },
  };
}

function macWith(secret: string) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'vision deliveries cursor v1', 32));
  return (endpointKey: string, id: Buffer): Buffer =>
    createHmac('sha256', key).update(id).update(endpointKey).digest().subarray(0, MAC_BYTES);
}

export const deliveryCursorInvalid = () =>
  fail.requestInvalid('cursor_invalid', 'cursor: send the next_cursor of an earlier page of this list.', {
    field: 'cursor',
  });
