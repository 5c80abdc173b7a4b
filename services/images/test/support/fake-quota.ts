import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { reserveRequest, settleRequest } from '@vision/contracts/quota';
import type { ReserveReply } from '@vision/contracts/quota';
import { fail } from '@vision/contracts/errors';
import { toProblem } from '@vision/shared/http/problem';
import { KEPT_MS } from '@vision/shared/testing/kept-connections';

interface Reservation {
  units: number;
  charged: number;
  open: boolean;
}

type What = 'reserve' | 'settlement' | 'refund' | 'usage';

export type Fault = 'none' | 'lose' | 'refuse' | 'reject';

export interface FakeQuota {
  url: string;
  readonly reservations: Map<string, Reservation>;
  /** Total of charged units. */
  used: () => number;
  /** Units used by another service. */
  usedElsewhere: number;
  /** Keys of video tasks. */
  readonly videoKeys: Set<string>;
  /**
   * Fault of a request: `refuse` drops it, `lose` processes it and drops the answer, `reject` answers that the request
   * is invalid. `id` is the id of the reservation.
   */
  fault: (what: What, id: string) => Fault | Promise<Fault>;
  close: () => Promise<void>;
}

const resets_at = '2099-01-01T00:00:00+08:00';

/** The quota contract over a real socket, with a ledger in memory. */
export async function startFakeQuota(): Promise<FakeQuota> {
  const server = createServer({ keepAliveTimeout: KEPT_MS }, (req, res) => {
    answer(fake, req, res).catch(() => res.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const fake: FakeQuota = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reservations: new Map(),
    used: () => fake.usedElsewhere + [...fake.reservations.values()].reduce((sum, { charged }) => sum + charged, 0),
    usedElsewhere: 0,
    videoKeys: new Set(),
    fault: () => 'none',
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return fake;
}

async function answer(fake: FakeQuota, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const url = new URL(req.url ?? '/', fake.url);
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const asked = whatIsAsked(url.pathname);
  if (!asked) {
    // The audit queries open reservations in the background.
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ items: [] }));
    return;
  }
  const { what, id } = asked;
  const fault = await fake.fault(what, id);
  if (fault === 'refuse') {
    res.destroy();
    return;
  }
  const body: unknown = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : undefined;
  if (fault === 'reject') {
    const error = fail.requestInvalid('body_invalid', 'idempotency_key: Invalid UUID.', { field: 'idempotency_key' });
    res
      .writeHead(400, { 'content-type': 'application/problem+json' })
      .end(JSON.stringify(toProblem(error, { requestId: 'x', traceId: '' })));
    return;
  }
  const reply = replyTo(fake, { what, id, body, limit: Number(url.searchParams.get('image_limit')) });
  if (fault === 'lose') res.destroy();
  else res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
}

/** Undefined for a request about neither one reservation nor usage. */
function whatIsAsked(path: string): { what: What; id: string } | undefined {
  if (path === '/internal/v1/usage') return { what: 'usage', id: '' };
  const match = /^\/internal\/v1\/reservations\/([^/]+)(?:\/(settlement|refund))?$/.exec(path);
  const [, id, action = 'reserve'] = match ?? [];
  return id === undefined ? undefined : { what: action as What, id: decodeURIComponent(id) };
}

interface Question {
  what: What;
  id: string;
  body: unknown;
  limit: number;
}

function replyTo(fake: FakeQuota, { what, id, body, limit }: Question): unknown {
  if (what === 'usage') {
    const of = (max: number, used: number) => ({ limit: max, used, remaining: Math.max(0, max - used), resets_at });
    return { video: of(5, 0), image: of(limit, fake.used()) };
  }
  if (what === 'reserve') return reserve(fake, id, reserveRequest.parse(body));
  return { charged: close(fake, id, what === 'refund' ? 0 : settleRequest.parse(body).units) };
}

function reserve(
  fake: FakeQuota,
  id: string,
  request: { idempotency_key: string; units: number; limit: number },
): ReserveReply {
  const known = fake.reservations.get(id);
  if (known) return { outcome: known.open ? 'granted' : 'closed' };
  if (fake.videoKeys.has(request.idempotency_key)) return { outcome: 'conflict' };
  const { units, limit } = request;
  if (fake.used() + units > limit)
    return { outcome: 'exhausted', limit, used: fake.used(), requested: units, resets_at };
  fake.reservations.set(id, { units, charged: units, open: true });
  return { outcome: 'granted' };
}

function close(fake: FakeQuota, id: string, units: number): number {
  const known = fake.reservations.get(id) ?? { units: 0, charged: 0, open: true };
  if (known.open) fake.reservations.set(id, { ...known, charged: Math.min(units, known.units), open: false });
  return fake.reservations.get(id)?.charged ?? 0;
}
