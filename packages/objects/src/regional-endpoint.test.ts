import https from 'node:https';
import type { RequestOptions } from 'node:https';
import { expect, jest, test } from '@jest/globals';
import { createObjectStore } from './object-store.ts';
import { regionalEndpoint } from './regional-endpoint.ts';

const regional = (endpoint: string, region: string) => regionalEndpoint(new URL(endpoint), region).href;

test.each([
  ['https://s3.amazonaws.com', 'eu-central-1', 'https://s3.eu-central-1.amazonaws.com/'],
  ['https://s3.amazonaws.com', 'us-east-1', 'https://s3.us-east-1.amazonaws.com/'],
  ['https://s3.amazonaws.com', 'cn-northwest-1', 'https://s3.cn-northwest-1.amazonaws.com.cn/'],
  ['https://s3.cn-north-1.amazonaws.com.cn', 'cn-north-1', 'https://s3.cn-north-1.amazonaws.com.cn/'],
])('%s in %s is %s', (endpoint, region, expected) => {
  expect(regional(endpoint, region)).toBe(expected);
});

test.each(['https://s3.eu-west-1.amazonaws.com/', 'http://minio:9000/', 'https://s3.amazonaws.com.example/'])(
  '%s stays as it is',
  (endpoint) => {
    expect(regional(endpoint, 'eu-central-1')).toBe(endpoint);
  },
);

test('all requests go to the host of the region', async () => {
  const hosts: unknown[] = [];
  const request = jest.spyOn(https, 'request').mockImplementation(((to: RequestOptions) => {
    hosts.push(to.hostname ?? to.host);
    throw new Error('not sent');
  }) as typeof https.request);
  const region = 'eu-central-1';
  const keys = { accessKey: 'key', secretKey: 'secret' };
  const store = createObjectStore({ endpoint: 'https://s3.amazonaws.com', region, bucket: 'vision', ...keys });
  const stored = store.put({ key: 'a', body: Buffer.from('a'), contentType: 'text/plain' });
  await Promise.allSettled([stored, store.stat('a')]);
  store.close();
  request.mockRestore();
  expect(hosts).toEqual(['s3.eu-central-1.amazonaws.com', 's3.eu-central-1.amazonaws.com']);
});
