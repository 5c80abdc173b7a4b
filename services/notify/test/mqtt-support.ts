import { until } from '@vision/shared/testing/until';
import { task } from './support.ts';
import type { TestNotify } from './support.ts';
import { newSubject } from './webhook-support.ts';

/** An MQTT endpoint in the form for its owner. */
export interface Shown {
  login: string;
  username?: string;
  enabled: boolean;
  disabled_reason?: string;
  connected_since?: string;
  failing_since?: string;
  last_failure?: string;
  sequence: number;
}

/** Requests of a caller about MQTT endpoints of one subject. */
export function brokersOf(notify: TestNotify, subject = newSubject()) {
  const call = async (method: string, id: string, body?: object) => {
    const answer = await notify.call(method, `/v1/vision/mqtt-endpoints/${id}`, subject, body);
    const text = await answer.text();
    return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
  };
  const get = async (id = 'home') => (await call('GET', id)).body as unknown as Shown;
  return {
    subject,
    call,
    get,
    put: async (body: object, id = 'home') => {
      const made = await call('PUT', id, body);
      if (made.status !== 201 && made.status !== 200) throw new Error(JSON.stringify(made.body));
      return made;
    },
    until: (isSo: (shown: Shown) => boolean, id = 'home') =>
      until(async () => {
        const shown = await get(id);
        return isSo(shown) ? shown : undefined;
      }),
    tell: async (count = 1) => {
      const tasks = Array.from({ length: count }, () => task({ subject, client_ref: 'yard' }));
      await notify.tell(...tasks);
      return tasks;
    },
  };
}
