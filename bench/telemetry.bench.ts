import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { stopServices } from '../deploy/local/down.ts';
import { readSettings } from '../deploy/local/settings.ts';
import { startSystem } from '../deploy/local/up.ts';
import { Caller, form, jpeg, scene } from '../test/support/system.ts';
import { followAll, video } from '../test/support/video.ts';
import { atLeast, timed } from './figures.ts';
import type { Figure } from './figures.ts';

export const name = 'telemetry';

const root = join(import.meta.dirname, '..');
const LANES = 4;
const WARM_UP = 60;
const PICTURES = 120;
/** Each way comes first and last once, so that a machine that slows down or warms up favours neither. */
const TURNS = ['off', 'on', 'on', 'off', 'off', 'on', 'on', 'off'] as const;

/** Pictures and frames per second while spans, metrics and lines are exported, over those while nothing is. */
export async function run(): Promise<{ figures: Figure[] }> {
  const sink = await startSink();
  const settings = readSettings();
  const collected = { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, OTEL_METRIC_EXPORT_INTERVAL: '5000' };
  const rates = {
    off: { pictures: [] as number[], frames: [] as number[] },
    on: { pictures: [] as number[], frames: [] as number[] },
  };
  try {
    for (const turn of TURNS) {
      await stopServices(settings);
      await startSystem(settings, { ...process.env, ...(turn === 'on' ? collected : {}) });
      const caller = await Caller.create({ images_per_day: 10_000, requests_per_second: 10_000, burst: 10_000 });
      await detect(caller, WARM_UP);
      rates[turn].pictures.push((PICTURES * 1000) / (await timed(() => detect(caller, PICTURES))));
      rates[turn].frames.push(await framesPerSecond(caller));
    }
  } finally {
    await stopServices(settings);
    await startSystem(settings, process.env);
    sink.close();
  }
  if (sink.bytes() === 0) throw new Error('nothing was exported');
  return {
    figures: [
      ratio('images a second, exporting over not', rates.on.pictures, rates.off.pictures),
      // Few short videos: runs lie a tenth apart.
      { ...ratio('frames a second, exporting over not', rates.on.frames, rates.off.frames), floor: atLeast(0.85) },
      { name: 'exported', value: sink.bytes() / (TURNS.length / 2) / 1024 / 1024, unit: 'MiB a turn' },
    ],
  };
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const ratio = (what: string, on: number[], off: number[]): Figure => ({
  name: what,
  value: mean(on) / mean(off),
  unit: 'ratio',
  target: atLeast(0.97),
});

async function detect(caller: Caller, count: number): Promise<void> {
  const picture = await readFile(join(root, 'examples/street.jpg'));
  let left = count;
  const lane = async () => {
    while ((left -= 1) >= 0) {
      const { status, text } = await caller.detect(form(jpeg(picture), scene('person_vehicle')));
      if (status !== 201) throw new Error(text);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

async function framesPerSecond(caller: Caller): Promise<number> {
  const bytes = await readFile(join(root, 'examples/street.mp4'));
  let count = 0;
  const ms = await timed(async () => {
    const { body, text } = await caller.createUpload(form(video(bytes), scene('person_vehicle')));
    if (typeof body['task_id'] !== 'string') throw new Error(text);
    count = (await followAll(caller, body['task_id'], 500)).length;
  });
  return (count * 1000) / ms;
}

/** A collector that takes everything and does nothing with it. */
async function startSink() {
  let bytes = 0;
  const server = createServer((req, res) => {
    req.on('data', (chunk: Buffer) => (bytes += chunk.length));
    req.on('end', () => res.setHeader('Content-Type', req.headers['content-type'] ?? '').end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bytes: () => bytes,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
