import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDnsServer } from '@vision/shared/testing/dns-server';
import { makeCertificates } from '@vision/shared/testing/made-certificates';
import { until } from '@vision/shared/testing/until';
import { accept, acceptsOnly, acknowledges, send, startFakeBroker, startMosquitto, subscribe } from './brokers.ts';
import type { Broker } from './brokers.ts';
import { startNotify } from './support.ts';
import type { TestNotify } from './support.ts';
import { brokersOf } from './mqtt-support.ts';
import type { Shown } from './mqtt-support.ts';

let broker: Broker;
let notify: TestNotify;
/** For brokers that never answer a login, and for those that acknowledge nothing. */
let hasty: { connecting: TestNotify; acknowledged: TestNotify };
let certificates: ReturnType<typeof makeCertificates>;
const dir = mkdtempSync(join(tmpdir(), 'vision-mqtt-'));
const dns = { answers: [] as string[], server: undefined as Awaited<ReturnType<typeof startDnsServer>> | undefined };
const settings = () => ({
  MQTT_ALLOW_PLAIN: 'true',
  MQTT_CONNECT_MS: '120000',
  MQTT_ACK_MS: '120000',
  WEBHOOK_DNS_SERVERS: dns.server?.address ?? '',
});

beforeAll(async () => {
  certificates = makeCertificates(dir);
  dns.server = await startDnsServer(({ type }) => (type === 'A' ? { addresses: dns.answers } : 'nothing'));
  broker = await startMosquitto();
  notify = await startNotify(settings());
  hasty = {
    connecting: await startNotify({ ...settings(), MQTT_CONNECT_MS: '1500' }),
    acknowledged: await startNotify({ ...settings(), MQTT_ACK_MS: '1500' }),
  };
});
afterAll(async () => {
  await Promise.all([notify, hasty.connecting, hasty.acknowledged].map((one) => one.stop()));
  await Promise.all([broker.close(), dns.server?.close()]);
  rmSync(dir, { recursive: true });
});

const isConnected = ({ connected_since: since }: Shown) => since !== undefined;
const failed = (failure: string) => (shown: Shown) => shown.last_failure === failure;
const at = (port: number, more = {}) => ({ url: `mqtt://127.0.0.1:${port}`, ...more });

/** Ends pauses after failures. */
const hurry = (by = notify) => by.database.db('mqtt_endpoints').update({ next_at: '-infinity' });

test('publishes what is logged, in order, once, under topics of the camera', async () => {
  const own = brokersOf(notify);
  const { messages, close } = await subscribe(broker.port);
  try {
    const { status, body } = await own.put(at(broker.port, { topic_prefix: `home/${own.subject}` }));
    expect([status, body['login'], body['enabled']]).toEqual([201, 'none', true]);
    await own.until(isConnected);
    await own.tell(100);
    const mine = () => messages.filter(({ topic }) => topic.includes(own.subject));
    await until(() => mine().length === 100);
    const { items } = await notify.page('?limit=100', own.subject);
    expect(mine().map(({ event_id }) => event_id)).toEqual(items.map(({ event_id }) => event_id));
    expect(new Set(mine().map(({ topic }) => topic))).toEqual(new Set([`home/${own.subject}/task.running/yard`]));
    expect(mine().some(({ retain }) => retain)).toBe(false);
    await own.until(({ sequence }) => sequence === items.at(-1)?.sequence);
  } finally {
    await close();
  }
});

test('publishes only the types that are asked for', async () => {
  const own = brokersOf(notify);
  const { messages, close } = await subscribe(broker.port);
  try {
    await own.put(at(broker.port, { topic_prefix: own.subject, event_types: ['task.stopped'] }));
    const [first] = await own.tell();
    await notify.tell({ ...(first as NonNullable<typeof first>), version: 2, status: 'stopped' });
    const mine = () => messages.filter(({ topic }) => topic.startsWith(own.subject));
    await until(() => mine().length === 1);
    expect(mine()[0]?.type).toBe('task.stopped');
  } finally {
    await close();
  }
});

test('continues where the broker stopped acknowledging', async () => {
  const own = brokersOf(notify);
  const restarted = await startMosquitto();
  try {
    await own.put(at(restarted.port));
    await own.tell();
    const { sequence: before } = await own.until(({ sequence }) => sequence > 0);
    await restarted.stop();
    await own.until(failed('unreachable'));
    await own.tell(3);
    expect((await own.get()).sequence).toBe(before);
    await restarted.start();
    const { messages, close } = await subscribe(restarted.port);
    await hurry();
    await until(() => messages.length === 3);
    await close();
    await own.until(({ failing_since, last_failure }) => failing_since === undefined && last_failure === undefined);
  } finally {
    await restarted.close();
  }
});

test('messages in flight when a broker stops answering are published again, and counts as failure', async () => {
  const own = brokersOf(hasty.acknowledged);
  // Messages of each connection: the next one may arrive before this test reads them.
  const published = new Map<Socket, number>();
  const silent = await startFakeBroker((packet, socket) => {
    acceptsOnly(packet, socket);
    if (packet.cmd === 'publish') published.set(socket, (published.get(socket) ?? 0) + 1);
  });
  try {
    const start = (await own.put(at(silent.port))).body['sequence'];
    await own.tell(50);
    await own.until(failed('timeout'));
    // No more than the window, and no unacknowledged message counts as published.
    const [sent = 0] = published.values();
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThanOrEqual(32);
    expect((await own.get()).sequence).toBe(start);
    await hurry(hasty.acknowledged);
    await until(() => [...published.values()].slice(1).includes(32));
    const row = await hasty.acknowledged.database
      .db('mqtt_endpoints')
      .where({ subject: own.subject })
      .first<{ failures: number }>();
    expect(row.failures).toBeGreaterThan(0);
  } finally {
    await silent.close();
  }
});

test('a slow broker delays no other', async () => {
  const own = brokersOf(notify);
  const silent = await startFakeBroker(acceptsOnly);
  try {
    await own.put(at(silent.port), 'silent');
    await own.put(at(broker.port), 'good');
    await own.tell(40);
    const { items } = await notify.page('?limit=100', own.subject);
    await own.until(({ sequence }) => sequence === items.at(-1)?.sequence, 'good');
    expect((await own.get('silent')).sequence).toBeLessThan(items[0]?.sequence ?? 0);
  } finally {
    await silent.close();
  }
});

const flood = (socket: Socket) => {
  accept(socket);
  send(socket, { cmd: 'publish', topic: 'a', payload: 'x'.repeat(100_000), qos: 0, dup: false, retain: false });
};
const beginHuge = (socket: Socket) => socket.write(Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f, ...Buffer.alloc(8_192)]));

test.each([
  ['refuses the login', 'refused', (socket: Socket) => accept(socket, 5)],
  ['never answers the login', 'timeout', () => undefined],
  ['closes at once', 'closed', (socket: Socket) => socket.end()],
  ['publishes to a client that has not subscribed', 'protocol_error', flood],
  ['begins a packet of 256 MB', 'protocol_error', beginHuge],
  ['speaks HTTP', 'protocol_error', (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
])('a broker that %s: %s', async (_what, failure, answer) => {
  const own = brokersOf(failure === 'timeout' ? hasty.connecting : notify);
  const odd = await startFakeBroker(({ cmd }, socket) => {
    if (cmd === 'connect') answer(socket);
  });
  try {
    await own.put(at(odd.port));
    await own.tell();
    const shown = await own.until(({ last_failure }) => last_failure !== undefined);
    expect(shown.last_failure).toBe(failure);
  } finally {
    await odd.close();
  }
});

test('connects over TLS with a certificate of the caller, and trusts no authority but theirs', async () => {
  const tls = [
    `cafile ${certificates.ca}`,
    `certfile ${certificates.server.cert}`,
    `keyfile ${certificates.server.key}`,
  ];
  const byCertificate = await startMosquitto([...tls, 'require_certificate true', 'use_identity_as_username true']);
  const own = brokersOf(notify);
  try {
    const [ca, certificate, key] = [certificates.ca, certificates.client.cert, certificates.client.key].map((file) =>
      readFileSync(file, 'utf8'),
    );
    const url = `mqtts://127.0.0.1:${byCertificate.port}`;
    await own.put({ url, login: { certificate, private_key: key }, server_ca: ca });
    const shown = await own.until(isConnected);
    expect(shown.login).toBe('certificate');
    expect(JSON.stringify(shown)).not.toContain('PRIVATE');
    // Without the authority of the caller.
    await own.put({ url, login: { certificate, private_key: key } }, 'untrusting');
    await own.until(failed('tls_invalid'), 'untrusting');
    const wrong = await own.call('PUT', 'wrong', { url, login: { certificate: ca, private_key: key } });
    expect([wrong.status, wrong.body['details']]).toEqual([400, { reason: 'mqtt_login_invalid', field: 'login' }]);
  } finally {
    await byCertificate.close();
  }
});

test('a login goes to the broker that it was given for only', async () => {
  const own = brokersOf(notify);
  const [first, second] = await Promise.all([1, 2].map(() => startFakeBroker(acceptsOnly)));
  try {
    await own.put(at(first?.port ?? 0, { login: { username: 'vision', password: 'secret' } }));
    await until(() => first?.connections() === 1);
    await own.put(at(first?.port ?? 0, { topic_prefix: 'other' }));
    await until(() => first?.connections() === 2);
    await own.put(at(second?.port ?? 0));
    await until(() => second?.connections() === 1);
    const passwords = (all: { received: object[] } | undefined) =>
      all?.received.flatMap((packet) => ('password' in packet ? [String(packet.password)] : []));
    expect(passwords(first)).toEqual(['secret', 'secret']);
    expect(second?.received[0]).not.toHaveProperty('password', expect.anything());
  } finally {
    await Promise.all([first?.close(), second?.close()]);
  }
});

test('a repeated request interrupts no connection', async () => {
  const own = brokersOf(notify);
  const open = await startFakeBroker(acceptsOnly);
  try {
    const body = at(open.port, { login: { username: 'vision', password: 'secret' } });
    await own.put(body);
    const before = await own.until(isConnected);
    expect((await own.put(body)).status).toBe(200);
    expect(await own.get()).toEqual(before);
  } finally {
    await open.close();
  }
});

test('a name that leads inside at a later connection is not connected to', async () => {
  const own = brokersOf(notify);
  const open = await startFakeBroker(acceptsOnly);
  try {
    dns.answers = ['127.0.0.1'];
    await own.put({ url: `mqtt://broker.example.org:${open.port}` });
    await own.until(isConnected);
    dns.answers = ['127.0.0.2'];
    await own.put({ url: `mqtt://broker.example.org:${open.port}`, topic_prefix: 'other' });
    await own.until(failed('unreachable'));
    expect(open.connections()).toBe(1);
  } finally {
    await open.close();
  }
});

test('nothing is lost between old and new settings: a change of types ends what the old connection passes over', async () => {
  const own = brokersOf(notify);
  const open = await startFakeBroker(acknowledges);
  try {
    await own.put(at(open.port, { event_types: ['task.stopped'] }));
    await own.until(isConnected);
    // As a request to another replica: the connected process does not receive it.
    await notify.database
      .db('mqtt_endpoints')
      .where({ subject: own.subject })
      .update({ event_types: null, revision: notify.database.db.raw('revision + 1') });
    await own.tell();
    await until(() => open.received.some(({ cmd }) => cmd === 'publish'));
  } finally {
    await open.close();
  }
});

test('events that expired before they were published are reported as missed', async () => {
  const own = brokersOf(notify);
  const open = await startFakeBroker(acknowledges);
  try {
    await own.put(at(1));
    await own.until(failed('unreachable'));
    await own.tell(2);
    const { items } = await notify.page('?limit=100', own.subject);
    const [position, logged_at] = [items[0]?.sequence, new Date()];
    await notify.database.db('events').where({ subject: own.subject, position }).delete();
    await notify.database.db('expired_events').insert({ subject: own.subject, position, logged_at });
    await own.put(at(open.port));
    await own.until(({ sequence }) => sequence === items[1]?.sequence);
    const types = open.received.flatMap((packet) =>
      packet.cmd === 'publish' ? [(JSON.parse(String(packet.payload)) as { type: string }).type] : [],
    );
    expect(types).toEqual(['events.missed', 'task.running']);
  } finally {
    await open.close();
  }
});

interface Failing {
  failures: number;
  last_failure: string;
  pause_s: number;
}

test('a broker that takes every login and closes again fails, with longer and longer pauses', async () => {
  const own = brokersOf(notify);
  const closing = await startFakeBroker(({ cmd }, socket) => {
    if (cmd !== 'connect') return;
    accept(socket);
    socket.end();
  });
  try {
    await own.put(at(closing.port));
    let seen = 0;
    for (let turn = 0; turn < 3; turn += 1) {
      const { db } = notify.database;
      const pause = db.raw('extract(epoch from next_at - lease_until)::float8 as pause_s');
      const failing = await until(async () =>
        db('mqtt_endpoints')
          .where({ subject: own.subject })
          // The next attempts follow without a wake-up, too.
          .where('failures', '>', seen)
          .whereRaw('isfinite(next_at)')
          .whereNull('lease_token')
          .first<Failing | undefined>('failures', 'last_failure', pause),
      );
      expect(failing.last_failure).toBe('closed');
      seen = failing.failures;
      expect(failing.pause_s).toBeGreaterThanOrEqual(2 ** (seen - 1) / 2);
      expect(failing.pause_s).toBeLessThanOrEqual(2 ** (seen - 1));
      await hurry();
    }
  } finally {
    await closing.close();
  }
});

test('a broker that fails for three days is disabled with an event', async () => {
  const own = brokersOf(notify);
  await own.put(at(1));
  await own.until(failed('unreachable'));
  const since = new Date(Date.now() - 73 * 3_600_000);
  await notify.database
    .db('mqtt_endpoints')
    .where({ subject: own.subject })
    .update({ failing_since: since, failures: 9, next_at: '-infinity' });
  const shown = await own.until(({ enabled }) => !enabled);
  expect(shown.disabled_reason).toBe('failing');
  const { items } = await notify.page('?types=mqtt_endpoint.disabled', own.subject);
  expect(items.map(({ data }) => data.endpoint_id)).toEqual(['home']);
});

test('publishes no pending event of a deleted task', async () => {
  const own = brokersOf(notify);
  const [gone, kept] = await (async () => {
    await own.put(at(1));
    await own.until(failed('unreachable'));
    return own.tell(2);
  })();
  await notify.tellDeleted(...(gone ? [{ task_id: gone.task_id, subject: own.subject }] : []));
  const open = await startFakeBroker(acknowledges);
  try {
    await own.put(at(open.port));
    const { items } = await notify.page('?limit=100', own.subject);
    await own.until(({ sequence }) => sequence >= (items.at(-1)?.sequence ?? Infinity));
    const bodies = open.received.flatMap((packet) => (packet.cmd === 'publish' ? [String(packet.payload)] : []));
    expect(bodies).toHaveLength(1);
    expect(bodies[0]).toContain(kept?.task_id);
  } finally {
    await open.close();
  }
});

test('a deleted endpoint is disconnected, also from a broker that never closes its end', async () => {
  const own = brokersOf(notify);
  const open = await startFakeBroker(acceptsOnly, { allowHalfOpen: true });
  try {
    await own.put(at(open.port));
    await own.until(isConnected);
    expect((await own.call('DELETE', 'home')).status).toBe(204);
    await until(() => open.received.some(({ cmd }) => cmd === 'disconnect'));
    // A closed socket answers further data with a reset.
    await until(() => {
      open.poke();
      return open.open() === 0;
    });
    expect((await own.call('GET', 'home')).body['details']).toEqual({ reason: 'mqtt_endpoint_not_found' });
  } finally {
    await open.close();
  }
});
