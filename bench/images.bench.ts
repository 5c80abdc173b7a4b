import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createTokenSigner } from '@vision/shared/http/service-token';
import { createLogger } from '@vision/shared/logger';
import { loadScenes } from '@vision/shared/scenes';
import { publicKeyOf, serviceKeyConfig, servicePublicKeysConfig } from '@vision/shared/service-keys';
import { loadSecrets } from '../deploy/local/secrets.ts';
import { readSettings } from '../deploy/local/settings.ts';
import { createDetectors } from '../services/inference/src/detectors/detectors.ts';
import { decodeScaled, orientedSize } from '../services/inference/src/pictures/decode-with-sharp.ts';
import { Caller, form, scene } from '../test/support/system.ts';
import { median, timed } from './figures.ts';
import type { Figure } from './figures.ts';
import { peakMiB, residentMiB } from './processes.ts';

export const name = 'images';

const root = join(import.meta.dirname, '..');
// Until the services run compiled code.
const WARM_UP_ROUNDS = 5;
const ROUNDS = 6;
const CALLS_A_ROUND = 4;
const SINGLES = 60;
const MiB = 1024 * 1024;

/**
 * Images per second of the service against a bare loop of decode + detect in this process with the same models, threads
 * and pictures; what gateway and images add to one detection; memory of the images service under full calls.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  const caller = await Caller.create({
    images_per_day: 1_000_000,
    requests_per_second: 10_000,
    burst: 10_000,
    image_calls: 50,
  });
  const pictures = await loadPictures();
  return {
    figures: [
      ...(await throughput(caller, pictures)),
      ...(await latency(caller, pictures)),
      ...(await memory(caller, pictures)),
    ],
  };
}

interface Picture {
  bytes: Uint8Array<ArrayBuffer>;
  type: string;
}

async function throughput(caller: Caller, pictures: Picture[]): Promise<Figure[]> {
  const threads = availableParallelism();
  const detectors = createDetectors({
    scenes: loadScenes(join(root, 'config/scenes.json')),
    modelsDir: join(root, 'services/inference/models'),
    threads,
    intraOpThreads: 1,
    logger: createLogger('bench', 'silent'),
  });
  await detectors.start();
  const served = detectors.find('person_vehicle');
  if (!served) throw new Error('the scene person_vehicle is not served');
  const detectOne = async ({ bytes }: Picture) => {
    const encoded = Buffer.from(bytes.buffer);
    const size = served.detector.fit(await orientedSize(encoded));
    const image = { ...size, data: await decodeScaled(encoded, size) };
    await served.detector.detect(image, { minScore: served.scene.lower_bound, labels: served.scene.labels });
  };
  const bare = () =>
    Promise.all(Array.from({ length: CALLS_A_ROUND }, () => Promise.all(ten(pictures).map(detectOne))));
  const service = () => Promise.all(Array.from({ length: CALLS_A_ROUND }, () => detect(caller, ten(pictures))));
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) {
    await bare();
    await service();
  }
  const ratios: number[] = [];
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const bareMs = await timed(bare);
    const serviceMs = await timed(service);
    ratios.push(bareMs / serviceMs);
    rates.push((CALLS_A_ROUND * 10_000) / serviceMs);
  }
  await detectors.stop();
  return [
    {
      name: 'service over bare decode + detect, 10-image calls',
      value: median(ratios),
      unit: 'ratio',
      target: '≥ 0.85',
    },
    { name: 'service, 10-image calls', value: median(rates), unit: 'images/s' },
  ];
}

async function latency(caller: Caller, [picture]: Picture[]): Promise<Figure[]> {
  if (!picture) return [];
  const url = `${process.env['INFERENCE_URL'] ?? ''}/v1/detect?scene_code=person_vehicle`;
  const headers = { 'content-type': picture.type, authorization: `Bearer ${await inferenceToken()}` };
  const direct = async () => {
    const reply = await fetch(url, { method: 'POST', body: picture.bytes, headers });
    await reply.arrayBuffer();
    if (!reply.ok) throw new Error(`detect: ${reply.status}`);
  };
  const samples = { direct: [] as number[], service: [] as number[] };
  for (let index = 0; index < SINGLES + 5; index += 1) {
    const [directMs, serviceMs] = [await timed(direct), await timed(() => detect(caller, [picture]))];
    if (index < 5) continue;
    samples.direct.push(directMs);
    samples.service.push(serviceMs);
  }
  return [
    { name: 'one image, direct to inference, p50', value: median(samples.direct), unit: 'ms' },
    {
      name: 'added by gateway and images, p50',
      value: median(samples.service) - median(samples.direct),
      unit: 'ms',
      target: '≤ 10',
    },
  ];
}

/** A token as the images service of this copy shows it to inference. */
function inferenceToken(): Promise<string> {
  const { IMAGES_SERVICE_KEY: text } = loadSecrets(readSettings());
  const publicKeys = servicePublicKeysConfig.SERVICE_PUBLIC_KEYS.parse(publicKeyOf('images', text));
  const signer = createTokenSigner({ issuer: 'images', key: serviceKeyConfig.SERVICE_KEY.parse(text), publicKeys });
  return signer.sign('inference', { subject: 'bench' });
}

/**
 * Pictures of 8 MiB: what follows the end of the picture in the file is carried, counted, hashed and stored
 * like the rest.
 */
async function memory(caller: Caller, pictures: Picture[]): Promise<Figure[]> {
  const large = pictures.map(({ bytes, type }) => {
    const padded = new Uint8Array(8 * MiB);
    padded.set(bytes);
    return { bytes: padded, type };
  });
  const jpegs = large.filter(({ type }) => type === 'image/jpeg');
  const before = residentMiB('images');
  const peaks = await peakMiB(['images', 'gateway'], () =>
    Promise.all(Array.from({ length: 8 }, () => detect(caller, ten(jpegs)))),
  );
  return [
    { name: 'images service before 8 calls of 10 × 8 MiB', value: before, unit: 'MiB' },
    {
      name: 'images service at 8 calls of 10 × 8 MiB',
      value: peaks.get('images') ?? Number.NaN,
      unit: 'MiB',
      target: '< 400',
    },
    { name: 'gateway at 8 calls of 10 × 8 MiB', value: peaks.get('gateway') ?? Number.NaN, unit: 'MiB' },
  ];
}

async function detect(caller: Caller, pictures: Picture[]): Promise<void> {
  const files = pictures.map(({ bytes, type }, index) => ({ name: 'files', value: bytes, type, filename: `${index}` }));
  const answer = await caller.detect(form(scene('person_vehicle'), ...files));
  if (answer.status !== 201) throw new Error(`image call: ${answer.status} ${answer.text.slice(0, 300)}`);
}

function ten(pictures: Picture[]): Picture[] {
  return Array.from({ length: 10 }, (_, index) => pictures[index % pictures.length] as Picture);
}

async function loadPictures(): Promise<Picture[]> {
  const files = [
    ['street.jpg', 'image/jpeg'],
    ['street.png', 'image/png'],
    ['street.webp', 'image/webp'],
  ] as const;
  return Promise.all(
    files.map(async ([file, type]) => ({ bytes: new Uint8Array(await readFile(join(root, 'examples', file))), type })),
  );
}
