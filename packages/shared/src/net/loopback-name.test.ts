import { expect, test } from '@jest/globals';
import { isLoopbackName } from './loopback-name.ts';

test.each(['localhost', 'LocalHost', '127.0.0.1', '127.1.2.3', '[::1]'])('%s is this machine', (host) => {
  expect(isLoopbackName(host)).toBe(true);
});

test.each(['localhost.example.com', 'my-localhost', '127.0.0.1.example.com', '128.0.0.1', '::1', '[::2]', ''])(
  '%j is not for sure this machine',
  (host) => {
    expect(isLoopbackName(host)).toBe(false);
  },
);
