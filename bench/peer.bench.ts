import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadScenes } from '@vision/shared/scenes';
import { shapeFor } from '../services/inference/src/domain/frame-fit.ts';
import { Caller } from '../test/support/system.ts';
import { encodeForm, sendForm } from './image-calls.ts';
import type { EncodedForm } from './image-calls.ts';
import { atLeast, median, timed } from './figures.ts';
import type { Figure } from './figures.ts';
import { startPeer } from './peer/start-peer.ts';
import { takePriorityOfServices } from './processes.ts';
import type { Peer } from './peer/start-peer.ts';

export const name = 'peer';

const root = join(import.meta.dirname, '..');
/** The picture that is sent. The model gets it in the same shape on both sides. */
const STREET = { width: 768, height: 576 };
const WARM_UP_ROUNDS = 3;
const ROUNDS = 8;

/** Clients at once, images in each of their calls, calls of each in a round. Measured: 0.89, 0.70, 0.78. */
const loads = [
  { what: 'one client, one image a call', clients: 1, pictures: 1, calls: 40, floor: 0.75 },
  { what: 'four clients, one image a call', clients: 4, pictures: 1, calls: 20, floor: 0.58 },
  { what: 'two clients, ten images a call', clients: 2, pictures: 10, calls: 3, floor: 0.65 },
] as const;

/**
 * The whole system beside the server that a user would write instead (`bench/peer/server.py`): the same model and
 * pictures on the same machine, in turn. Without Python there is nothing to compare with.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  takePriorityOfServices();
  const peer = await tryToStart();
  if (!peer) return { figures: [] };
  try {
    const caller = await Caller.create({
      images_per_day: 1_000_000,
      requests_per_second: 10_000,
      burst: 10_000,
      image_calls: 50,
    });
    const figures: Figure[] = [];
    for (const load of loads) figures.push(...(await compare(load, peer, caller)));
    return { figures };
  } finally {
    await peer.stop();
  }
}

async function tryToStart(): Promise<Peer | undefined> {
  const detector = loadScenes(join(root, 'config/scenes.json')).detectors['nanodet-416'];
  if (detector?.kind !== 'onnx') throw new Error('the detector nanodet-416 is none of ONNX');
  try {
    const shape = shapeFor(STREET, detector.input.shapes);
    return await startPeer(join(root, 'services/inference/models', detector.file), shape);
  } catch (error) {
    process.stdout.write(`  skipped: ${error instanceof Error ? error.message.slice(0, 300) : String(error)}\n`);
    return undefined;
  }
}

async function compare(load: (typeof loads)[number], peer: Peer, caller: Caller): Promise<Figure[]> {
  const form = await formOf(load.pictures);
  const send = {
    peer: async () => {
      const answer = await fetch(`${peer.url}/detect`, {
        method: 'POST',
        headers: { 'content-type': form.type },
        body: form.bytes,
      });
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`peer: ${answer.status}`);
    },
    service: () => sendForm(caller, form),
  };
  const samples = { peer: [] as number[], service: [] as number[] };
  const ratios: number[] = [];
  const rates = { peer: [] as number[], service: [] as number[] };
  const round = async (which: 'peer' | 'service') => {
    const client = async () => {
      for (let call = 0; call < load.calls; call += 1) samples[which].push(await timed(send[which]));
    };
    const tookMs = await timed(() => Promise.all(Array.from({ length: load.clients }, client)));
    return (load.clients * load.calls * load.pictures * 1000) / tookMs;
  };
  for (let number = 0; number < WARM_UP_ROUNDS + ROUNDS; number += 1) {
    const [peerRate, serviceRate] = [await round('peer'), await round('service')];
    if (number < WARM_UP_ROUNDS) {
      samples.peer = [];
      samples.service = [];
      continue;
    }
    ratios.push(serviceRate / peerRate);
    rates.peer.push(peerRate);
    rates.service.push(serviceRate);
  }
  return [
    {
      name: `${load.what}: over the plain server`,
      value: median(ratios),
      unit: 'ratio',
      target: atLeast(0.9),
      floor: atLeast(load.floor),
    },
    { name: 'plain server', value: median(rates.peer), unit: 'images/s' },
    { name: 'plain server, p50 of a call', value: median(samples.peer), unit: 'ms' },
    { name: 'this system', value: median(rates.service), unit: 'images/s' },
    { name: 'this system, p50 of a call', value: median(samples.service), unit: 'ms' },
  ];
}

/** The street as JPEG: what cameras and telephones send. */
async function formOf(pictures: number): Promise<EncodedForm> {
  const bytes = new Uint8Array(await readFile(join(root, 'examples/street.jpg')));
  return encodeForm(Array.from({ length: pictures }, () => ({ bytes, type: 'image/jpeg' })));
}
