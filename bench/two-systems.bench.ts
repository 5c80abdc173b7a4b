import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { Caller } from '../test/support/system.ts';
import { median, timed } from './figures.ts';
import type { Figure } from './figures.ts';
import { encodeForm, sendForm } from './image-calls.ts';
import type { EncodedForm } from './image-calls.ts';

export const name = 'two-systems';

const LIMITS = { images_per_day: 1_000_000, requests_per_second: 10_000, burst: 10_000, image_calls: 50 };
const WARM_UP_ROUNDS = 2;
const ROUNDS = 6;

/** Clients at once, pictures in each of their calls, calls of each in a round. */
const loads = [
  { what: 'one client, one image a call', clients: 1, pictures: 1, calls: 25 },
  { what: 'four clients, one image a call', clients: 4, pictures: 1, calls: 12 },
  { what: 'two clients, ten images a call', clients: 2, pictures: 10, calls: 2 },
] as const;

/**
 * This system beside another one that runs on the same machine, in turn: an older state of the code in a checkout of
 * its own. `OTHER_SYSTEM` is the file with its addresses, `.local/env` of that checkout; without it nothing is
 * compared.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  const file = process.env['OTHER_SYSTEM'];
  if (file === undefined) {
    process.stdout.write('  skipped: OTHER_SYSTEM names no other system\n');
    return { figures: [] };
  }
  const bytes = new Uint8Array(await readFile(join(import.meta.dirname, '../examples/street.jpg')));
  const senders = { this: await Caller.create(LIMITS), other: await otherCaller(file) };
  const figures: Figure[] = [];
  for (const load of loads) {
    const pictures = Array.from({ length: load.pictures }, () => ({ bytes, type: 'image/jpeg' }));
    figures.push(...(await compare(load, senders, await encodeForm(pictures))));
  }
  return { figures };
}

type Sender = Parameters<typeof sendForm>[0];

async function compare(
  { what, clients, calls }: (typeof loads)[number],
  senders: { this: Sender; other: Sender },
  form: EncodedForm,
): Promise<Figure[]> {
  const callsMs = { this: [] as number[], other: [] as number[] };
  const ratios: number[] = [];
  const round = async (which: 'this' | 'other') => {
    const client = async () => {
      for (let call = 0; call < calls; call += 1)
        callsMs[which].push(await timed(() => sendForm(senders[which], form)));
    };
    return timed(() => Promise.all(Array.from({ length: clients }, client)));
  };
  for (let number = 0; number < WARM_UP_ROUNDS + ROUNDS; number += 1) {
    const [otherMs, thisMs] = [await round('other'), await round('this')];
    if (number < WARM_UP_ROUNDS) {
      callsMs.this = [];
      callsMs.other = [];
    } else ratios.push(otherMs / thisMs);
  }
  const p50 = (which: 'this' | 'other') => median(callsMs[which]);
  return [
    { name: `${what}: over the other system`, value: median(ratios), unit: 'ratio' },
    { name: 'other system, p50 of a call', value: p50('other'), unit: 'ms' },
    { name: 'this system, p50 of a call', value: p50('this'), unit: 'ms' },
  ];
}

async function otherCaller(file: string): Promise<Sender> {
  const { BASE_URL: baseUrl, ADMIN_URL: adminUrl, ADMIN_TOKEN: token } = parseEnv(await readFile(file, 'utf8'));
  const ask = async (method: string, path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${adminUrl}${path}`, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path} of the other system: ${answer.status}`);
    return (await answer.json()) as Record<string, unknown>;
  };
  const { key, subject } = await ask('POST', '/admin/v1/keys', { name: 'bench' });
  await ask('PUT', `/admin/v1/subjects/${String(subject)}/limits`, LIMITS);
  if (baseUrl === undefined) throw new Error(`${file} has no BASE_URL`);
  return { key: String(key), baseUrl };
}
