import { expect, test } from '@jest/globals';
import { readHeaders, toMessage } from './cloud-event.ts';
import type { OutgoingEvent } from './cloud-event.ts';

const event: OutgoingEvent = { topic: 'frames', key: 'a', type: 'frame.v1', source: 'inference', id: 'a/1', data: {} };
const timestamp = '1780000000000';

test('a binary event carries no header that it can do without, and is read by the time of its record', () => {
  const { headers = {} } = toMessage({ ...event, data: new Uint8Array([1]) });
  expect(Object.keys(headers).toSorted()).toEqual(['ce_id', 'ce_source', 'ce_specversion', 'ce_type']);
  const read = readHeaders({ headers, timestamp });
  expect(read).toEqual({ id: 'a/1', type: 'frame.v1', source: 'inference', time: new Date(Number(timestamp)) });
});

test('an event in JSON, and a binary one of another time, say when they happened', () => {
  const time = new Date(5_000);
  for (const data of [{}, new Uint8Array([1])]) {
    const { headers = {} } = toMessage({ ...event, data, time });
    expect(readHeaders({ headers, timestamp })?.time).toEqual(time);
  }
});
