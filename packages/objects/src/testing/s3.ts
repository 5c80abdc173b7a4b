import { randomBytes } from 'node:crypto';
import { Client } from 'minio';
import { MARKS } from '../bucket-owner.ts';
import { CHECKS } from '../check-rights.ts';
import { testAddress } from '@vision/shared/testing/environment';

export interface TestS3 {
  endpoint: string;
  region: string;
  bucket: string;
  accessKey: string;
  secretKey: string;
  client: Client;
  /** Names of all objects of the bucket but the marks of databases and what start checks leave for a moment. */
  objects: () => Promise<string[]>;
  /** Removes the bucket with everything in it. */
  close: () => Promise<void>;
}

/** A bucket for one test file. */
export async function testS3(): Promise<TestS3> {
  const endpoint = testAddress('TEST_S3_ENDPOINT');
  const region = process.env['TEST_S3_REGION'] ?? 'us-east-1';
  const accessKey = testAddress('TEST_S3_ACCESS_KEY');
  const secretKey = testAddress('TEST_S3_SECRET_KEY');
  const bucket = `test-${randomBytes(8).toString('hex')}`;
  const { hostname, port, protocol } = new URL(endpoint);
  const useSSL = protocol === 'https:';
  const client = new Client({
    endPoint: hostname,
    port: Number(port) || (useSSL ? 443 : 80),
    useSSL,
    region,
    accessKey,
    secretKey,
    pathStyle: true,
  });
  await client.makeBucket(bucket, region);
  const allObjects = async () => {
    const names: string[] = [];
    for await (const item of client.listObjectsV2(bucket, '', true) as AsyncIterable<{ name?: string }>) {
      if (item.name) names.push(item.name);
    }
    return names;
  };
  return {
    endpoint,
    region,
    bucket,
    accessKey,
    secretKey,
    client,
    objects: async () => (await allObjects()).filter((name) => !name.startsWith(MARKS) && !name.startsWith(CHECKS)),
    close: async () => {
      for (const name of await allObjects()) await client.removeObject(bucket, name);
      await client.removeBucket(bucket);
    },
  };
}
