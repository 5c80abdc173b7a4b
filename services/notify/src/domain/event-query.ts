import { fail } from '@vision/contracts/errors';
import { eventTypes } from './event.ts';
import type { EventType } from './event.ts';

export const eventOrders = ['oldest', 'newest'] as const;
export type EventOrder = (typeof eventOrders)[number];

export const DEFAULT_EVENTS = 100;
export const MAX_EVENTS = 500;

export interface EventQuery {
  cursor: string | undefined;
  limit: number;
  /** All types when undefined. */
  types: EventType[] | undefined;
  /** Requested order; a cursor has an order of its own. */
  order: EventOrder | undefined;
}

/**
 * Validates the query of a page of events.
 * @throws AppError OP-TASK-REQUEST-INVALID with `details.field`.
 */
export function parseEventQuery(query: Record<string, unknown>): EventQuery {
  const text = readerOf(query, ['cursor', 'limit', 'types', 'order']);
  const order = text('order');
  const found = eventOrders.find((one) => one === order);
  if (order !== undefined && found === undefined) throw invalid('order', `send one of ${eventOrders.join(', ')}`);
  return {
    cursor: text('cursor') || undefined,
    limit: parseLimit(text('limit')),
    types: parseTypes(text('types')),
    order: found,
  };
}

/** The same for a stream. */
export function parseStreamQuery(query: Record<string, unknown>): Pick<EventQuery, 'cursor' | 'types'> {
  const text = readerOf(query, ['cursor', 'types']);
  return { cursor: text('cursor') || undefined, types: parseTypes(text('types')) };
}

function readerOf<N extends string>(query: Record<string, unknown>, names: readonly N[]) {
  const unknown = Object.keys(query).find((name) => !(names as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw fail.requestInvalid('unknown_field', `Only ${names.join(', ')} are accepted.`, {
      field: unknown.slice(0, 200),
    });
  return (name: N): string | undefined => {
    const value = query[name];
    if (value === undefined || typeof value === 'string') return value;
    throw invalid(name, 'send it once');
  };
}

function parseLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_EVENTS;
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= MAX_EVENTS) return value;
  throw invalid('limit', `send a whole number from 1 to ${MAX_EVENTS}`);
}

function parseTypes(text: string | undefined): EventType[] | undefined {
  if (text === undefined) return undefined;
  const found = text.split(',').map((name) => eventTypes.find((type) => type === name));
  if (found.some((type) => type === undefined))
    throw invalid('types', `send some of ${eventTypes.join(', ')}, comma separated`);
  return [...new Set(found as EventType[])];
}

const invalid = (field: string, rule: string) => fail.requestInvalid('query_invalid', `${field}: ${rule}.`, { field });
