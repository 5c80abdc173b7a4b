import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { topics } from '@vision/contracts/topics';
import { testKafka } from '@vision/kafka/testing/kafka';
import type { TestKafka } from '@vision/kafka/testing/kafka';
import { testS3 } from '@vision/objects/testing/s3';
import type { TestS3 } from '@vision/objects/testing/s3';
import { until } from '@vision/shared/testing/until';
import { readSettings } from '../src/config.ts';
import { runCommandLine } from '../src/run-command-line.ts';

let kafka: TestKafka;
let s3: TestS3;

beforeAll(async () => {
  kafka = await testKafka({ topics: Object.values(topics), partitions: 1 });
  s3 = await testS3();
});

afterAll(async () => {
  await kafka.close();
  await s3.close();
});

async function visionctl(argv: string[], changed: Record<string, string>) {
  const said: string[] = [];
  const env = {
    VISION_LOCAL_DIR: '/nowhere',
    VISION_OPERATOR: 'test',
    KAFKA_BROKERS: kafka.brokers.join(','),
    TOPIC_PREFIX: kafka.topicPrefix,
    S3_ENDPOINT: s3.endpoint,
    S3_REGION: s3.region,
    S3_BUCKET: s3.bucket,
    S3_ACCESS_KEY: s3.accessKey,
    S3_SECRET_KEY: s3.secretKey,
    ...changed,
  };
  const say = (text: string) => said.push(text);
  const code = await runCommandLine(argv, readSettings(env), { print: say, complain: say });
  return { code, text: said.join('\n') };
}

test('topics are made as declared: first reported, then changed, then left alone', async () => {
  const declared = { default: { partitions: 2, replicationFactor: 1, retentionMs: 3_600_000 } };
  const TOPICS = JSON.stringify(declared);
  const name = `${kafka.topicPrefix}${topics.frames}`;
  const check = await visionctl(['topics', 'apply', '--check'], { TOPICS });
  expect(check).toMatchObject({ code: 1, text: expect.stringContaining(`${name} gets 2 partitions instead of 1`) });
  expect((await visionctl(['topics', 'apply', '--check'], { TOPICS })).text).toBe(check.text);
  expect(await visionctl(['topics', 'apply'], { TOPICS })).toEqual({ code: 0, text: check.text });
  // A broker says that a change is made a moment before it shows it.
  await until(async () => (await visionctl(['topics', 'apply', '--check'], { TOPICS })).code === 0);
  expect(await visionctl(['topics', 'apply'], { TOPICS })).toEqual({
    code: 0,
    text: '14 topics are as they have to be.',
  });
  const fewer = await visionctl(['topics', 'apply'], { TOPICS: '{"default":{"partitions":1,"retentionMs":3600000}}' });
  expect(fewer).toMatchObject({
    code: 1,
    text: expect.stringContaining(`Cannot be changed: ${name} has 2 partitions`),
  });
  expect(await visionctl(['topics', 'create'], {})).toEqual({ code: 0, text: '14 topics exist.' });
});

test('a declaration that is wrong and brokers that are unavailable are one sentence with the setting', async () => {
  const wrong = await visionctl(['topics', 'apply'], { TOPICS: '{"frames":{"partition":3}}' });
  expect(wrong).toMatchObject({
    code: 2,
    text: expect.stringMatching(/TOPICS: frames: Unrecognized key: "partition"/),
  });
  expect(await visionctl(['topics', 'apply'], { KAFKA_BROKERS: '127.0.0.1:1' })).toEqual({
    code: 1,
    text: 'visionctl: No broker of KAFKA_BROKERS=127.0.0.1:1 answers: ECONNREFUSED',
  });
});

test('the bucket is made and checked with the settings of S3 alone', async () => {
  expect(await visionctl(['bucket', 'check'], {})).toMatchObject({ code: 0 });
  expect(await visionctl(['bucket', 'check'], { S3_BUCKET: 'absent' })).toEqual({
    code: 1,
    text: `visionctl: There is no bucket S3_BUCKET=absent at S3_ENDPOINT=${s3.endpoint}`,
  });
  expect(await visionctl(['bucket', 'create'], { S3_ENDPOINT: 'http://127.0.0.1:1' })).toMatchObject({
    code: 1,
    text: expect.stringContaining('S3_ENDPOINT=http://127.0.0.1:1 does not answer'),
  });
  expect(await visionctl(['bucket', 'create'], {})).toMatchObject({ code: 0 });
});
