/**
 * The clients of one flood, in a thread of their own and with bodies that are made once: what they take of the
 * machine is not the flood's doing, and must not hold up the clock of the honest client.
 */
import { randomUUID } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { Caller, form, scene, system } from '../test/support/system.ts';

export interface Picture {
  bytes: Uint8Array<ArrayBuffer>;
  type: string;
}

/** What the thread is told: what each tenant sends in every call, and how many calls it has under way. */
export interface FloodTask {
  tenants: Picture[][];
  callsAtOnce: number;
}

/** What it tells at its end: calls by the status of their answers. */
export type Statuses = Record<number, number>;

const { tenants, callsAtOnce } = workerData as FloodTask;
const statuses: Statuses = {};
let isOver = false;
parentPort?.once('message', () => (isOver = true));

const attacks = await Promise.all(tenants.map(attack));
await Promise.all(attacks.flat());
parentPort?.postMessage(statuses);

/** A tenant that is refused for the processor time it took goes on without a pause, as nobody who means well would. */
async function attack(pictures: Picture[]): Promise<Promise<void>[]> {
  const body = await encode(pictures);
  const attacker = await Caller.create({ images_per_day: 1_000_000, image_calls: callsAtOnce });
  return Array.from({ length: callsAtOnce }, async () => {
    while (!isOver) {
      const status = await send(attacker, body);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  });
}

async function encode(pictures: Picture[]): Promise<{ type: string; bytes: ArrayBuffer }> {
  const files = pictures.map(({ bytes, type }, index) => ({ name: 'files', value: bytes, type, filename: `${index}` }));
  const encoded = new Response(form(scene('person_vehicle'), ...files));
  return { type: encoded.headers.get('content-type') ?? '', bytes: await encoded.arrayBuffer() };
}

async function send({ key }: Caller, { type, bytes }: { type: string; bytes: ArrayBuffer }): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': type, 'idempotency-key': randomUUID() };
  const answer = await fetch(`${system.baseUrl}/v1/vision/image-detections`, { method: 'POST', headers, body: bytes });
  await answer.arrayBuffer();
  return answer.status;
}
