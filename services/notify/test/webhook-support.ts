import { randomUUID } from 'node:crypto';
import { until } from '@vision/shared/testing/until';
import type { TestNotify } from './support.ts';

export interface Endpoint {
  endpoint_id: string;
  url: string;
  event_types?: string[];
  enabled: boolean;
  disabled_reason?: string;
  failing_since?: string;
  secret?: string;
}

export interface Delivery {
  delivery_id: string;
  event_id: string;
  type: string;
  state: string;
  attempts: { at: string; outcome: string; status?: number; duration_ms: number }[];
  next_at?: string;
}

export const newSubject = () => `subject-${randomUUID()}`;

/** Requests of a caller about webhooks of one subject. */
export function webhooksOf(notify: TestNotify, subject = newSubject()) {
  const path = (rest: string) => `/v1/vision/webhook-endpoints${rest}`;
  const send = async (method: string, rest: string, body?: unknown) => {
    const answer = await notify.call(method, path(rest), subject, body);
    const text = await answer.text();
    return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
  };
  const deliveries = async (id: string, query = '') => {
    const { body } = await send('GET', `/${id}/deliveries${query}`);
    return body['items'] as Delivery[];
  };
  return {
    subject,
    send,
    put: async (id: string, body: Record<string, unknown>) => {
      const { status, body: made } = await send('PUT', `/${id}`, body);
      if (status !== 201 && status !== 200) throw new Error(JSON.stringify(made));
      return made as unknown as Endpoint;
    },
    get: async (id: string) => (await send('GET', `/${id}`)).body as unknown as Endpoint,
    deliveries,
    /** Waits until the newest deliveries of an endpoint match. */
    until: (id: string, isSo: (all: Delivery[]) => boolean) =>
      until(async () => {
        const all = await deliveries(id);
        return isSo(all) ? all : undefined;
      }),
    redeliver: async (deliveryId: string) =>
      notify.call('POST', `/v1/vision/webhook-deliveries/${deliveryId}/redeliver`, subject),
    /** Makes all deliveries due that wait for their next attempt. */
    hurry: () =>
      notify.database
        .db('webhook_deliveries')
        .where({ subject, state: 'pending' })
        .update({ lease_until: new Date(0) }),
  };
}

export const isAll =
  (state: string, count = 1) =>
  (all: Delivery[]) =>
    all.length === count && all.every((one) => one.state === state);
