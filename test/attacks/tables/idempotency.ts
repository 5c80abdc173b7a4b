import { randomUUID } from 'node:crypto';
import { example, form, jpeg, scene } from '../../support/system.ts';
import type { Answer } from '../../support/system.ts';
import type { Attack, AttackGroup } from '../attack.ts';
import { rawRequest, sendRaw } from '../raw-http.ts';
import { counted, invalid, said } from '../say.ts';
import { liveStream, stopAll } from '../live-stream.ts';

const KEY = randomUUID();
const KEY_INVALID = invalid('idempotency_key_invalid');
const REUSED = invalid('idempotency_key_reused');

/** A create that gets no further than its key. */
function keyed(name: string, expected: string, lines: string[]): Attack {
  return {
    name,
    expected,
    attempt: async (target) => {
      const { key } = await target.caller();
      const own = ['Host: x', `Authorization: Bearer ${key}`, 'Content-Type: application/json', 'Content-Length: 2'];
      return sendRaw(rawRequest('POST /v1/vision/tasks HTTP/1.1', [...own, ...lines, 'Connection: close'], '{}'));
    },
  };
}

const statusOf = (answer: Answer) => (answer.status < 300 ? `${answer.status}` : said(answer));
const picture = async (...more: ReturnType<typeof scene>[]) => form(jpeg(await example('street.jpg')), ...more);

export const idempotency: AttackGroup = {
  title: 'Idempotency keys',
  wanted: 'work that is not charged, or the result of another caller',
  withinMs: 30_000,
  atOnce: 4,
  attacks: [
    keyed('no key', invalid('idempotency_key_missing'), []),
    keyed('an empty key', KEY_INVALID, ['Idempotency-Key: ']),
    keyed('two keys', KEY_INVALID, [`Idempotency-Key: ${KEY}`, `Idempotency-Key: ${randomUUID()}`]),
    keyed('the same key twice', KEY_INVALID, [`Idempotency-Key: ${KEY}`, `Idempotency-Key: ${KEY}`]),
    keyed('a list of keys', KEY_INVALID, [`Idempotency-Key: ${KEY}, ${KEY}`]),
    keyed('braces around it', KEY_INVALID, [`Idempotency-Key: {${KEY}}`]),
    keyed('no hyphens', KEY_INVALID, [`Idempotency-Key: ${KEY.replaceAll('-', '')}`]),
    keyed('a URN', KEY_INVALID, [`Idempotency-Key: urn:uuid:${KEY}`]),
    keyed('a letter that is no digit', KEY_INVALID, [`Idempotency-Key: g${KEY.slice(1)}`]),
    keyed('a letter that looks like one', KEY_INVALID, [`Idempotency-Key: \xef\xbc\xa1${KEY.slice(1)}`]),
    keyed('SQL', KEY_INVALID, [`Idempotency-Key: ${KEY}'; drop table tasks; --`]),
    keyed('15 KiB', KEY_INVALID, [`Idempotency-Key: ${KEY.repeat(400)}`]),
    {
      name: 'the key of another tenant',
      expected: '201, 201, two calls',
      charged: 2,
      attempt: async (target) => {
        const [one, other] = [await target.caller(), await target.caller()];
        const key = randomUUID();
        const answers = [await one.detect(await picture(), key), await other.detect(await picture(), key)];
        const ids = new Set(answers.map(({ body }) => body['task_id']));
        return `${answers.map(statusOf).join(', ')}, ${ids.size === 2 ? 'two calls' : 'one call'}`;
      },
    },
    {
      name: 'the key in capitals, for a second charge',
      expected: '201, 200',
      charged: 1,
      attempt: async (target) => {
        const caller = await target.caller();
        const key = randomUUID();
        const first = await caller.detect(await picture(), key);
        return [first, await caller.detect(await picture(), key.toUpperCase())].map(statusOf).join(', ');
      },
    },
    {
      name: 'the key of one call for another image, scene and kind',
      expected: `201, ${REUSED}, ${REUSED}, ${REUSED}`,
      charged: 1,
      attempt: async (target) => {
        const caller = await target.caller();
        const key = randomUUID();
        const street = await example('street.jpg');
        const answers = [
          await caller.detect(form(jpeg(street)), key),
          await caller.detect(form(jpeg(Buffer.concat([street, Buffer.from('x')]))), key),
          await caller.detect(form(jpeg(street), scene('ship')), key),
          await caller.createStream(await liveStream(target), key),
        ];
        return answers.map(statusOf).join(', ');
      },
    },
    {
      name: 'one key 30 times at once',
      expected: '29 × 200, 1 × 201',
      charged: 1,
      attempt: async (target) => {
        const caller = await target.caller();
        const stream = await liveStream(target);
        const key = randomUUID();
        const answers = await Promise.all(Array.from({ length: 30 }, () => caller.createStream(stream, key)));
        await stopAll(caller, answers.slice(0, 1));
        return counted(answers.map(statusOf));
      },
    },
    {
      name: '40 creates at once for the last 3 units',
      expected: '3 × 201, 37 × 429 OP-QUOTA-DAILY-EXHAUSTED daily_quota_exhausted',
      charged: 3,
      attempt: async (target) => {
        const caller = await target.caller({ video_tasks_per_day: 3, active_tasks: 100 });
        const stream = await liveStream(target);
        const answers = await Promise.all(Array.from({ length: 40 }, () => caller.createStream(stream)));
        await stopAll(caller, answers);
        return counted(answers.map(statusOf));
      },
    },
    {
      name: '20 calls at once for the last 4 images',
      expected: '4 × 201, 16 × 429 OP-QUOTA-DAILY-EXHAUSTED daily_quota_exhausted',
      charged: 4,
      attempt: async (target) => {
        const caller = await target.caller({ images_per_day: 4 });
        const calls = Array.from({ length: 20 }, async () => caller.detect(await picture()));
        return counted((await Promise.all(calls)).map(statusOf));
      },
    },
    {
      name: '30 creates at once for 2 places',
      expected: '2 × 201, 28 × 429 OP-QUOTA-RATE-LIMITED active_tasks',
      charged: 2,
      attempt: async (target) => {
        const caller = await target.caller({ video_tasks_per_day: 100, active_tasks: 2 });
        const stream = await liveStream(target);
        const answers = await Promise.all(Array.from({ length: 30 }, () => caller.createStream(stream)));
        await stopAll(caller, answers);
        return counted(answers.map(statusOf));
      },
    },
    {
      name: 'a second key of the same subject, for a second quota',
      expected: '201, 429 OP-QUOTA-DAILY-EXHAUSTED daily_quota_exhausted',
      charged: 1,
      attempt: async (target) => {
        const caller = await target.caller({ images_per_day: 1 });
        const second = await caller.anotherKey();
        return [await caller.detect(await picture()), await second.detect(await picture())].map(statusOf).join(', ');
      },
    },
    {
      name: 'a task stopped 10 times at once, for its unit back',
      expected: '1 × 201, charged 1',
      charged: 1,
      attempt: async (target) => {
        const caller = await target.caller();
        const task = await caller.createStream(await liveStream(target));
        const id = String(task.body['task_id']);
        await Promise.all(Array.from({ length: 10 }, () => caller.stop(id)));
        return `${counted([statusOf(task)])}, charged ${await caller.used('video')}`;
      },
    },
  ],
};
