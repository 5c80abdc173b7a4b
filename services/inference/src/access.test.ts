import { expect, test } from '@jest/globals';
import { createLogger } from '@vision/shared/logger';
import { testPublicKeys } from '@vision/shared/testing/service-keys';
import { createAccess } from './access.ts';
import { configSchema } from './config.ts';

const start = (env: Record<string, string>) => () =>
  createAccess(configSchema.parse(env), createLogger('test', 'silent'));

test('the service does not start when no caller could use it, unless a setting for development lets all in', () => {
  expect(start({})).toThrow('Callers need a token: set SERVICE_PUBLIC_KEYS or INFERENCE_TOKEN');
  expect(start({ DEVELOPMENT_WITHOUT_TOKEN: 'true' })).not.toThrow();
  expect(start({ SERVICE_PUBLIC_KEYS: testPublicKeys })).not.toThrow();
  expect(start({ INFERENCE_TOKEN: 'a-token-for-the-backend' })).not.toThrow();
});
