import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { ConfigError, loadConfig } from '@vision/shared/config';
import { loginConfig, loginOf } from './login-config.ts';

const oauth = {
  KAFKA_SASL_MECHANISM: 'oauthbearer',
  KAFKA_OAUTH_TOKEN_URL: 'https://id.example.com/token',
  KAFKA_OAUTH_CLIENT_ID: 'vision',
  KAFKA_OAUTH_CLIENT_SECRET: 'the-secret',
};

const read = (env: Record<string, string | undefined>) => loginOf(loadConfig(z.object(loginConfig), env));

test('a login by tokens needs its three settings', () => {
  expect(read(oauth)).toMatchObject({ mechanism: 'oauthbearer', clientId: 'vision' });
  for (const name of ['KAFKA_OAUTH_TOKEN_URL', 'KAFKA_OAUTH_CLIENT_ID', 'KAFKA_OAUTH_CLIENT_SECRET'])
    expect(() => read({ ...oauth, [name]: undefined })).toThrow(new RegExp(`also needs .*${name}`));
});

test('settings of one login are refused with another', () => {
  expect(() => read({ ...oauth, KAFKA_PASSWORD: 'x' })).toThrow(/are not for KAFKA_SASL_MECHANISM=oauthbearer/);
  const plain = { KAFKA_SASL_MECHANISM: 'plain', KAFKA_USERNAME: 'a', KAFKA_PASSWORD: 'b' };
  expect(() => read({ ...plain, KAFKA_OAUTH_CLIENT_ID: 'vision' })).toThrow(ConfigError);
  expect(() => read({ KAFKA_OAUTH_SCOPE: 'kafka' })).toThrow(/are for KAFKA_SASL_MECHANISM=oauthbearer/);
});

test('the secret of the client goes over https, or to a loopback address', () => {
  const at = (url: string) => () => read({ ...oauth, KAFKA_OAUTH_TOKEN_URL: url });
  for (const url of ['http://localhost:8080/token', 'http://127.0.0.1/token', 'http://[::1]:8080/token'])
    expect(at(url)).not.toThrow();
  for (const url of [
    'http://id.example.com/token',
    'http://127.0.0.1.example.com/',
    'https://user:pass@id/token',
    'id',
  ])
    expect(at(url)).toThrow(/KAFKA_OAUTH_TOKEN_URL: /);
  expect(at('https://user:pass@id/token')).not.toThrow(/pass@/);
});

test('what reads one configuration shares a source of tokens', () => {
  const config = loadConfig(z.object(loginConfig), oauth);
  const [first, second] = [loginOf(config), loginOf(config)];
  expect(first).toMatchObject({ tokens: expect.anything() });
  expect(second && 'tokens' in second && first && 'tokens' in first && first.tokens === second.tokens).toBe(true);
});
