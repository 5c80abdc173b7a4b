import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { defaultLimits } from '@vision/contracts/limits';
import { until } from '@vision/shared/testing/until';
import { detected } from './support/fake-inference.ts';
import type { Fault } from './support/fake-quota.ts';
import { file, files, picture, scene } from './support/form.ts';
import { startImages, startReplica } from './support/start-images.ts';
import type { TestImages } from './support/start-images.ts';

let images: TestImages;
beforeAll(async () => {
  // No test may depend on when the audit queries quota. Fifty calls wait for ten connections longer than the default
  // allows on a busy machine.
  images = await startImages({ AUDIT_INTERVAL_MS: '20', DATABASE_POOL: '40' });
});
afterAll(() => images.stop());
afterEach(() => {
  images.inference.answer = () => detected();
  images.quota.fault = () => 'none';
});

interface Lease {
  lease_until: Date;
  attempt: number;
}

const keyRows = (key: string) =>
  images.database.db('idempotency_keys').where({ key }).select<{ state: string }[]>('state');

test('fifty identical concurrent calls with the last units of the day: one 201, one result, one charge', async () => {
  const caller = { limits: { ...defaultLimits, images_per_day: images.quota.used() + 2 } };
  const key = randomUUID();
  const parts = files(picture('burst-a'), picture('burst-b'));
  const answers = await Promise.all(Array.from({ length: 50 }, () => images.detect(parts, { key, caller })));
  const [first, ...others] = answers.sort((a, b) => b.status - a.status);
  expect(first).toMatchObject({ status: 201 });
  for (const other of others) expect(other).toEqual({ status: 200, body: { ...first?.body, replayed: true } });
  expect(images.inference.seen.filter((name) => name.startsWith('burst')).sort()).toEqual(['burst-a', 'burst-b']);
  expect(await images.database.db('images').where({ task_id: first?.body.task_id ?? '' })).toHaveLength(2);
  expect([...images.quota.reservations.keys()].filter((id) => id.startsWith(first?.body.task_id ?? '-'))).toHaveLength(
    1,
  );
});

test('a repeat that finds no units left is still a replay of the call that took them', async () => {
  const caller = { limits: { ...defaultLimits, images_per_day: images.quota.used() + 1 } };
  const [firstAsked, secondAsked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let asked = 0;
  images.quota.fault = async (what): Promise<Fault> => {
    if (what === 'usage') await (asked++ === 0 ? firstAsked : secondAsked).promise;
    return 'none';
  };
  const key = randomUUID();
  // Neither claims the key before both have found it free.
  const locked = await images.database.db.transaction();
  await locked.raw('lock table idempotency_keys in share mode');
  const calls = [0, 1].map(() => images.detect(files(picture('last')), { key, caller }));
  await until(() => asked >= 2);
  await locked.commit();
  firstAsked.resolve();
  await until(async () => (await keyRows(key))[0]?.state === 'done');
  secondAsked.resolve();
  expect((await Promise.all(calls)).map(({ status }) => status).sort()).toEqual([200, 201]);
});

test('a replay says so in its header and echoes the key as it was first sent', async () => {
  const sent = randomUUID().toUpperCase();
  const parts = files(picture('echo'));
  const first = await images.detect(parts, { key: sent });
  const again = await images.post(parts, { key: sent.toLowerCase() });
  expect(again.status).toBe(200);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(await again.json()).toEqual({ ...first.body, request_id: sent, replayed: true });
});

test('the fingerprint of a call covers its scene and its images in order, and no other part', async () => {
  const key = randomUUID();
  const [a, b] = [picture('mean-a'), picture('mean-b')];
  const first = await images.detect([file(a), file(b), scene('ship')], { key });
  expect(first.status).toBe(201);
  const renamed = [scene('ship'), file(a, { filename: 'x.jpg', type: 'image/jpeg' }), file(b, { filename: 'ü.png' })];
  expect((await images.detect(renamed, { key })).body).toEqual({ ...first.body, replayed: true });
  for (const other of [
    [file(b), file(a), scene('ship')],
    [file(a), scene('ship')],
    [file(a), file(b), scene('fishing')],
    [file(a), file(b)],
    [file(a), file(picture('mean-c')), scene('ship')],
  ]) {
    const { status, body } = await images.detect(other, { key });
    expect({ status, code: body.code, reason: body.details['reason'] }).toEqual({
      status: 400,
      code: 'OP-TASK-REQUEST-INVALID',
      reason: 'idempotency_key_reused',
    });
  }
});

test('the default scene and the same scene by name are the same request', async () => {
  const key = randomUUID();
  expect((await images.detect(files(picture('d')), { key })).status).toBe(201);
  expect((await images.detect([scene('fire_smoke'), ...files(picture('d'))], { key })).status).toBe(200);
});

test('the same key of another subject is another call', async () => {
  const key = randomUUID();
  const one = await images.detect(files(picture('s')), { key, caller: { subject: 'one' } });
  const two = await images.detect(files(picture('t')), { key, caller: { subject: 'two' } });
  expect([one.status, two.status]).toEqual([201, 201]);
  expect(one.body.task_id).not.toBe(two.body.task_id);
});

test('while the first call runs, a different request is refused at once and the same request waits for its outcome', async () => {
  const gate = Promise.withResolvers<void>();
  images.inference.answer = () => gate.promise.then(() => detected());
  const key = randomUUID();
  const first = images.detect(files(picture('slow')), { key });
  await until(async () => (await keyRows(key)).length === 1);
  expect((await images.detect(files(picture('other')), { key })).body.details['reason']).toBe('idempotency_key_reused');
  const second = images.detect(files(picture('slow')), { key });
  gate.resolve();
  expect((await first).status).toBe(201);
  expect(await second).toEqual({ status: 200, body: { ...(await first).body, replayed: true } });
});

test('when the first call fails, the second does the work itself', async () => {
  const gate = Promise.withResolvers<void>();
  const reserved: string[] = [];
  images.quota.fault = async (what, id) => {
    if (what !== 'reserve') return 'none';
    reserved.push(id);
    await gate.promise;
    return id === reserved[0] ? 'refuse' : 'none';
  };
  const key = randomUUID();
  const first = images.detect(files(picture('turns')), { key });
  await until(() => reserved.length > 0);
  const second = images.detect(files(picture('turns')), { key });
  gate.resolve();
  const answers = await Promise.all([first, second]);
  expect(answers.map(({ status }) => status)).toEqual([503, 201]);
  expect(answers[0].body).toMatchObject({ code: 'OP-SYS-UNAVAILABLE', retryable: true });
});

test('a wait ends with 503 and Retry-After, and holds no connection of the pool', async () => {
  const gate = Promise.withResolvers<void>();
  images.inference.answer = () => gate.promise.then(() => detected());
  const replica = await startReplica(images, { KEY_WAIT_MS: '600', DATABASE_POOL: '2' });
  const key = randomUUID();
  const first = replica.detect(files(picture('held')), { key });
  await until(async () => (await keyRows(key)).length === 1);
  const waiting = Array.from({ length: 10 }, () => replica.post(files(picture('held')), { key }));
  expect((await replica.get(`/internal/v1/image-calls/${randomUUID()}`)).status).toBe(404);
  for (const answer of await Promise.all(waiting)) {
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await answer.json()).toMatchObject({
      code: 'OP-SYS-UNAVAILABLE',
      details: { reason: 'first_call_still_running' },
    });
  }
  gate.resolve();
  expect((await first).status).toBe(201);
  await replica.stop();
});

test('a call keeps its lease while it works, and no process takes it over', async () => {
  const gate = Promise.withResolvers<void>();
  images.inference.answer = () => gate.promise.then(() => detected());
  const replica = await startReplica(images, { LEASE_MS: '12000', RECOVERY_INTERVAL_MS: '100' });
  const key = randomUUID();
  const leases = () => images.database.db('idempotency_keys').where({ key }).select<Lease[]>('lease_until', 'attempt');
  const call = replica.detect(files(picture('long')), { key });
  const [first] = await until(async () => ((await leases()).length === 1 ? leases() : undefined));
  const lastsOn = async () => Number((await leases())[0]?.lease_until) >= Number(first?.lease_until) + 12_000;
  await until(lastsOn);
  expect((await leases()).map(({ attempt }) => attempt)).toEqual([1]);
  gate.resolve();
  expect((await call).status).toBe(201);
  await replica.stop();
});

test('a refusal leaves the key free for any request', async () => {
  const key = randomUUID();
  expect((await images.detect([scene('dragons'), ...files(picture('x'))], { key })).status).toBe(400);
  expect((await images.detect(files('no picture'), { key })).status).toBe(400);
  expect(await keyRows(key)).toEqual([]);
  expect((await images.detect(files(picture('y')), { key })).status).toBe(201);
});

test('a key that names a video task is refused for an image call', async () => {
  const key = randomUUID();
  images.quota.videoKeys.add(key);
  const { status, body } = await images.detect(files(picture('v')), { key });
  expect({ status, reason: body.details['reason'] }).toEqual({ status: 400, reason: 'idempotency_key_reused' });
  expect(await keyRows(key)).toEqual([]);
  expect((await images.s3.objects()).length).toBe(await storedPictures());
});

test('a client that disconnects after its upload finds the result under its key', async () => {
  const gate = Promise.withResolvers<void>();
  images.inference.answer = () => gate.promise.then(() => detected());
  const key = randomUUID();
  const leaving = new AbortController();
  const first = images.post(files(picture('left')), { key, signal: leaving.signal });
  await until(() => images.inference.seen.includes('left'));
  leaving.abort();
  await expect(first).rejects.toThrow();
  gate.resolve();
  await until(async () => (await keyRows(key))[0]?.state === 'done');
  expect((await images.detect(files(picture('left')), { key })).status).toBe(200);
});

test('replays work during maintenance and with the daily quota used up', async () => {
  const key = randomUUID();
  const first = await images.detect(files(picture('again')), { key });
  const caller = { maintenance: { reason: 'works' } };
  expect((await images.detect(files(picture('again')), { key, caller })).body).toEqual({
    ...first.body,
    replayed: true,
  });
  images.quota.usedElsewhere = 1_000_000;
  expect((await images.detect(files(picture('again')), { key })).status).toBe(200);
  images.quota.usedElsewhere = 0;
});

async function storedPictures(): Promise<number> {
  const [row] = await images.database.db('images').count<{ count: number }[]>('object_key as count');
  return Number(row?.count);
}

test('an image call can be read by its subject, and by no other', async () => {
  const { body: answered } = await images.detect(files(picture('read'), picture('again')));
  const path = `/v1/vision/image-detections/${answered.task_id}`;
  const before = images.quota.used();
  const read = (await (await images.call('GET', path)).json()) as Record<string, unknown>;
  const { scene_code, created_at, result_expires_at, ...same } = read;
  expect(same).toEqual(answered);
  expect([scene_code, Date.parse(String(result_expires_at)) > Date.parse(String(created_at))]).toEqual([
    'fire_smoke',
    true,
  ]);
  expect(images.quota.used()).toBe(before);
  const stranger = await images.tokenOf({ subject: 'stranger' });
  const refused = await fetch(images.url + path, { headers: { authorization: `Bearer ${stranger}` } });
  expect([refused.status, await refused.json()]).toMatchObject([404, { details: { reason: 'task_not_found' } }]);
  await images.database
    .db('image_calls')
    .where({ task_id: answered.task_id })
    .update({ result_expires_at: new Date() });
  expect((await images.call('GET', path)).status).toBe(404);
});
