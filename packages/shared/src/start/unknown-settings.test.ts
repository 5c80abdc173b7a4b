import { expect, test } from '@jest/globals';
import { unknownSettings } from './unknown-settings.ts';

const KNOWN = ['HOST', 'PORT', 'LOG_LEVEL', 'KAFKA_BROKERS', 'DATABASE_URL', 'DATABASE_POOL', 'MAX_CALLS'];
const of = (env: Record<string, string>) => unknownSettings(KNOWN, env);

test.each([
  ['LOGLEVEL', 'LOG_LEVEL'],
  ['LOG_LEVLE', 'LOG_LEVEL'],
  ['log_level', 'LOG_LEVEL'],
  ['KAFKA_BROKER', 'KAFKA_BROKERS'],
  ['DATABSE_URL_FILE', 'DATABASE_URL'],
])('reports %s, and that %s was meant', (variable, meant) => {
  expect(of({ [variable]: 'x' })).toEqual([{ variable, meant }]);
});

test('reports what begins as a setting of this process', () => {
  expect(of({ KAFKA_RETRIES: '3', DATABASE_SCHEMA: 'x' })).toEqual([
    { variable: 'KAFKA_RETRIES' },
    { variable: 'DATABASE_SCHEMA' },
  ]);
});

test('leaves settings, their files and variables of other programs alone', () => {
  const others = {
    HOME: '/',
    PATH: '/bin',
    PWD: '/',
    HOSTNAME: 'a',
    NODE_OPTIONS: '',
    OTEL_SERVICE_NAME: 'x',
    LANG: 'C',
  };
  expect(of({ LOG_LEVEL: 'info', DATABASE_URL_FILE: '/run/secret', S3_BUCKET: 'of others', ...others })).toEqual([]);
});

test('leaves what Kubernetes sets for each Service alone', () => {
  const links = {
    KAFKA_SERVICE_HOST: '10.0.0.1',
    KAFKA_SERVICE_PORT_TCP: '9092',
    KAFKA_PORT: 'tcp://10.0.0.1:9092',
    KAFKA_PORT_9092_TCP_ADDR: '10.0.0.1',
  };
  expect(of(links)).toEqual([]);
});
