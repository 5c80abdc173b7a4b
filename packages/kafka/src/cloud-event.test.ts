import { expect, test } from '@jest/globals';
import { readHeaders, toMessage } from './cloud-event.ts';
import type { OutgoingEvent } from './cloud-event.ts';

const event: OutgoingEvent = { topic: 'frames', key: 'a', type: 'frame.v1', source: 'inference', id: 'a/1', data: {} };
const timestamp = '1780000000000';

const record = { timestamp, key: Buffer.from('a'), offset: '7' };

test('a binary event carries its type only, and the rest follows from its definition and its record', () => {
  const { id: _id, ...unnamed } = event;
  const { headers = {} } = toMessage({ ...unnamed, data: new Uint8Array([1]) });
  expect(headers).toEqual({ ce_type: 'frame.v1' });
  const binary = { source: 'inference', load: () => 1, description: 'frames' };
  const time = new Date(Number(timestamp));
  expect(readHeaders({ ...record, headers }, binary)).toEqual({
    id: 'a@7',
    type: 'frame.v1',
    source: 'inference',
    time,
  });
  // A reader that does not know the type puts it aside instead of passing over frames.
  expect(readHeaders({ ...record, headers })).toBeUndefined();
});

test('an event in JSON, and a binary one of another time, say when they happened', () => {
  const time = new Date(5_000);
  for (const data of [{}, new Uint8Array([1])]) {
    const { headers = {} } = toMessage({ ...event, data, time });
    const binary = { source: 'inference', load: () => 1, description: 'frames' };
    expect(readHeaders({ ...record, headers }, binary)).toMatchObject({ id: 'a/1', time });
  }
});
