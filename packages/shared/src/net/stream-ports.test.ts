import { expect, test } from '@jest/globals';
import { DEFAULT_STREAM_PORTS, readPorts } from './stream-ports.ts';

test('single ports and ranges are allowed with their ends, and nothing beside them', () => {
  const isAllowed = readPorts(['554', '8000-8002']);
  const ports = [1, 553, 554, 555, 7999, 8000, 8001, 8002, 8003, 65_535];
  expect(ports.filter(isAllowed)).toEqual([554, 8000, 8001, 8002]);
});

test('the default list is a list', () => {
  expect(() => readPorts(DEFAULT_STREAM_PORTS.split(','))).not.toThrow();
});

test.each(['', '0', '65536', '90-80', '1-', '-1', '80-90-100', 'http', '1e3', '0x50', ' 80'])(
  'an entry like %j stops the start',
  (entry) => {
    expect(() => readPorts([entry])).toThrow('not a port');
  },
);
