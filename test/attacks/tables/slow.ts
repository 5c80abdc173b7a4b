import { randomUUID } from 'node:crypto';
import { Agent, get } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@vision/shared/testing/until';
import { unreadBytes } from '../../../services/gateway/test/support/unread-bytes.ts';
import { example, form, jpeg, system } from '../../support/system.ts';
import type { Answer, Caller } from '../../support/system.ts';
import type { Attack, AttackGroup } from '../attack.ts';
import { openRaw, rawRequest, saidOn } from '../raw-http.ts';
import { counted, each, said } from '../say.ts';

/** CLIENT_PACE_WINDOW_MS and HEAD_TIMEOUT_MS are 30 s; one look at the connections and a busy machine come on top. */
const PATIENCE_MS = 75_000;
const MIB = 1024 * 1024;

/** Connections of an address of its own that send a beginning, then a byte now and then. */
const drips = (name: string, from: string, count: number, begin: (key: string) => string): Attack => ({
  name,
  expected: `${count} × cut`,
  attempt: async (target) => {
    const { key } = await target.caller();
    const ends = Array.from({ length: count }, async () => {
      const socket = await openRaw({ from });
      const heard = saidOn(socket, PATIENCE_MS);
      socket.write(begin(key));
      while (!socket.destroyed) {
        socket.write('x');
        await delay(1_000);
      }
      return (await heard).includes('left open') ? 'left open' : 'cut';
    });
    return counted(await Promise.all(ends));
  },
});

const upload = (key: string, line: string) =>
  rawRequest(line, [
    'Host: x',
    `Authorization: Bearer ${key}`,
    `Idempotency-Key: ${randomUUID()}`,
    'Content-Type: multipart/form-data; boundary=x',
    'Content-Length: 1000000',
  ]);

export const slow: AttackGroup = {
  title: 'Slow clients, and many of them',
  wanted: 'connections, places and memory that are held for nothing',
  withinMs: 80_000,
  atOnce: 8,
  isPatient: true,
  attacks: [
    drips('40 heads that drip', '127.99.0.1', 40, () => 'GET /v1/vision/tasks HTTP/1.1\r\nHost: x\r\nX-A: '),
    drips('one upload of an image that drips', '127.99.0.2', 1, (key) =>
      upload(key, 'POST /v1/vision/image-detections HTTP/1.1'),
    ),
    drips('one upload of a video that drips', '127.99.0.3', 1, (key) =>
      upload(key, 'POST /v1/vision/video-tasks HTTP/1.1'),
    ),
    drips('40 bodies of requests that need none', '127.99.0.4', 40, (key) =>
      upload(key, 'GET /v1/vision/tasks HTTP/1.1').replace('GET', 'POST'),
    ),
    {
      name: '40 clients that never read the documentation',
      expected: '40 × cut, and nothing left in the kernel',
      attempt: async () => {
        const from = '127.99.0.5';
        const unread = () => unreadBytes(system.baseUrl, from);
        const line = rawRequest('GET /docs/swagger-ui-bundle.js HTTP/1.1', ['Host: x']);
        const ends = Array.from({ length: 40 }, async () => {
          const socket = await openRaw({ from });
          socket.pause().write(line.repeat(30));
          // A side that does not read learns of the end when it writes.
          const isCut = async () => {
            if (!socket.destroyed) socket.write(line);
            return socket.destroyed;
          };
          const seen = await until(isCut, { timeoutMs: PATIENCE_MS, intervalMs: 1_000 }).then(
            () => 'cut',
            () => 'left open',
          );
          return { seen, socket };
        });
        // Otherwise the end would show nothing.
        await until(async () => (await unread()) > MIB, { timeoutMs: PATIENCE_MS });
        const clients = await Promise.all(ends);
        const left = await until(async () => (await unread()) === 0, { timeoutMs: PATIENCE_MS }).then(
          () => 'nothing',
          async () => `${await unread()} bytes`,
        );
        clients.forEach(({ socket }) => socket.destroy());
        return `${counted(clients.map(({ seen }) => seen))}, and ${left} left in the kernel`;
      },
    },
    {
      name: '1,000 requests written at once',
      expected: 'cut; from elsewhere 200',
      withinMs: 20_000,
      attempt: async (target) => {
        const caller = await target.caller();
        const line = rawRequest('GET /v1/vision/tasks HTTP/1.1', ['Host: x', `Authorization: Bearer ${caller.key}`]);
        const socket = await openRaw({ from: '127.99.0.8' });
        socket.write(line.repeat(1_000));
        const heard = await saidOn(socket, 10_000);
        const other = await (await target.caller()).get('/v1/vision/tasks');
        return `${heard.includes('left open') ? 'left open' : 'cut'}; from elsewhere ${said(other)}`;
      },
    },
    {
      name: '600 connections of one address',
      expected: '512 × left open, 88 × cut; from elsewhere 200',
      withinMs: 20_000,
      attempt: async (target) => {
        const sockets = await Promise.all(Array.from({ length: 600 }, () => openRaw({ from: '127.99.0.6' })));
        await until(() => sockets.filter(({ destroyed }) => destroyed).length >= 88, { timeoutMs: 10_000 });
        const seen = counted(sockets.map(({ destroyed }) => (destroyed ? 'cut' : 'left open')));
        const other = await (await target.caller()).get('/v1/vision/tasks');
        sockets.forEach((socket) => socket.destroy());
        return `${seen.split(', ').toReversed().join(', ')}; from elsewhere ${said(other)}`;
      },
    },
    {
      name: '40 calls that are left in the middle, then an honest one',
      expected: '201',
      charged: 1,
      withinMs: 40_000,
      attempt: async (target) => {
        const caller = await target.caller({ image_calls: 2 });
        for (let turn = 0; turn < 40; turn += 1) {
          const socket = await openRaw({ from: '127.99.0.7' });
          socket.write(upload(caller.key, 'POST /v1/vision/image-detections HTTP/1.1'));
          socket.destroy();
        }
        const street = await example('street.jpg');
        const answer = await until(
          async () => {
            const tried = await caller.detect(form(jpeg(street)));
            return tried.status === 429 ? undefined : tried;
          },
          { timeoutMs: 30_000, intervalMs: 500 },
        );
        return said(answer);
      },
    },
    {
      name: '400 requests at once with a rate of 5 in a second and 20 at once',
      expected: 'no more than its rate, all others 429 OP-QUOTA-RATE-LIMITED rate_exceeded',
      withinMs: 20_000,
      attempt: async (target) => {
        const caller = await target.caller({ requests_per_second: 5, burst: 20 });
        const from = performance.now();
        const answers = await askAtOnce(caller, 400);
        const most = 20 + 5 * Math.ceil((performance.now() - from) / 1_000);
        const passed = answers.filter(({ status }) => status === 200).length;
        const refused = each(answers.filter(({ status }) => status !== 200).map(said));
        // What it is charged is asked for by its own key.
        await caller.setLimits({ requests_per_second: 100, burst: 100 });
        await until(async () => (await caller.get('/v1/vision/usage')).status === 200);
        return `${passed <= most ? 'no more than its rate' : `${passed} × 200`}, all others ${refused}`;
      },
    },
  ],
};

/** From an address of its own, which may have 512 connections: those of other attacks do not count with these. */
async function askAtOnce({ key }: Caller, count: number): Promise<Pick<Answer, 'status' | 'body'>[]> {
  const agent = new Agent({ localAddress: '127.99.0.8' });
  const ask = async () => {
    const { promise, resolve, reject } = Promise.withResolvers<Pick<Answer, 'status' | 'body'>>();
    get(`${system.baseUrl}/v1/vision/tasks`, { agent, headers: { authorization: `Bearer ${key}` } }, (reply) => {
      const read = async () => ({
        status: reply.statusCode ?? 0,
        body: JSON.parse(await text(reply)) as Answer['body'],
      });
      read().then(resolve, reject);
    }).on('error', reject);
    return promise;
  };
  return Promise.all(Array.from({ length: count }, ask));
}
