import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { calibration, probabilityOf, toScore } from '@vision/contracts/calibration';
import type { Curve } from '@vision/contracts/calibration';
import { readSettings } from '../src/config.ts';
import { runCommandLine } from '../src/run-command-line.ts';

const folder = mkdtempSync(join(tmpdir(), 'calibrate-'));
const inForce: Curve = [
  [0, 0],
  [0.35, 0.1],
  [1, 1],
];

/** Version that the service reports, and number of images that it refuses first. */
let version: string | undefined;
let refusals: number;
const tokens = new Set<string | undefined>();
/** Raw scores of the two boxes in each image: the first is on the object, the second is not. */
const rawScores = (picture: number): [number, number] => [
  0.5 + 0.004 * (picture % 100),
  0.36 + 0.002 * (picture % 100),
];

const server = createServer((req, res) => {
  const chunks: Buffer[] = [];
  tokens.add(req.headers.authorization);
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    const answer = (status: number, body: unknown) =>
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (req.url === '/v1/health') {
      const scene = { scene_code: 'people', labels: ['person'], lower_bound: 0.1, model: 'm:1', calibration: version };
      return answer(200, { status: 'ok', scenes: [scene] });
    }
    if (refusals > 0) {
      refusals -= 1;
      if (refusals === 0) return void req.socket.destroy();
      return answer(503, { reason: 'saturated' });
    }
    const [right, wrong] = rawScores(Number(Buffer.concat(chunks).toString()));
    const object = (cx: number, raw: number) => ({
      label: 'person',
      score: toScore(probabilityOf(inForce, raw)),
      bbox: { format: 'cxcywh_normalized', cx, cy: 0.5, width: 0.2, height: 0.5 },
    });
    return answer(200, { image: { width: 100, height: 100 }, objects: [object(0.3, right), object(0.8, wrong)] });
  });
});

const registry = {
  detectors: {
    m: {
      kind: 'onnx',
      version: '1',
      file: 'm.onnx',
      input: { name: 'i', width: 32, height: 32, resize: 'stretch', colour_order: 'rgb', layout: 'nchw' },
      decode: { kind: 'yolo', output: 'o', layout: 'candidates_last' },
      classes: ['person', 'car'],
      calibration: { version: '1', floor: 0.35, labels: { '*': { curve: inForce, measured: 'before' } } },
    },
  },
  scenes: [
    {
      scene_code: 'people',
      name: 'People',
      description: 'Finds people.',
      enabled: true,
      labels: ['person'],
      lower_bound: 0.1,
      default_min_score: 0.8,
      detector: 'm',
    },
  ],
};
const coco = {
  images: Array.from({ length: 200 }, (_, id) => ({ id, file_name: `${id}.jpg`, width: 100, height: 100 })),
  categories: [{ id: 1, name: 'person' }],
  annotations: Array.from({ length: 200 }, (_, id) => ({ image_id: id, category_id: 1, bbox: [20, 25, 20, 50] })),
};

let env: Record<string, string>;
beforeAll(async () => {
  // Tests of inference in this process before shut the loaders of libvips, which belong to the process and not a file.
  sharp.unblock({ operation: ['VipsForeignLoadSvg'] });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  env = { INFERENCE_URL: url, INFERENCE_TOKEN: 'a-static-token', VISION_LOCAL_DIR: folder };
  writeFileSync(join(folder, 'scenes.json'), JSON.stringify(registry));
  writeFileSync(join(folder, 'labels.json'), JSON.stringify(coco));
  for (const { id, file_name: name } of coco.images) writeFileSync(join(folder, name), String(id));
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  version = '1';
  refusals = 0;
});

async function calibrate(...more: string[]): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' };
  const inFolder = (name: string) => join(folder, name);
  const args = ['--labels', inFolder('labels.json'), '--pictures', folder, '--scene', 'people'];
  const files = ['--registry', inFolder('scenes.json'), '--out', inFolder('out')];
  const code = await runCommandLine(['calibrate', ...args, ...files, ...more], readSettings(env), {
    print: (text) => void (said.out += `${text}\n`),
    complain: (text) => void (said.err += `${text}\n`),
  });
  return { code, ...said };
}

test('labelled images give curves over raw scores, bounds for the scenes and a diagram', async () => {
  // One answer that the service is busy, then a connection that breaks.
  refusals = 2;
  const { code, out, err } = await calibrate('--name', '2', '--measured', 'two hundred pictures');
  expect({ code, said: err.split('\n').filter((line) => line.includes('visionctl:')) }).toEqual({ code: 0, said: [] });
  const written = calibration.parse(JSON.parse(readFileSync(join(folder, 'out/calibration.json'), 'utf8')));
  expect(written).toMatchObject({ version: '2', floor: 0.35 });
  const person = written.labels['person'];
  expect(person?.measured).toBe('two hundred pictures (400 boxes, 200 right)');
  expect(written.labels['*']?.measured).toContain('not measured');
  // Raw scores below 0.5 are all of wrong boxes, those above 0.56 all of right ones.
  expect(probabilityOf(person?.curve ?? [], 0.45)).toBeLessThan(0.1);
  expect(probabilityOf(person?.curve ?? [], 0.7)).toBeGreaterThan(0.9);
  expect(out).toMatch(/people\s+0\.0\d+/);
  expect(readFileSync(join(folder, 'out/reliability-person.svg'), 'utf8')).toContain('raw scores');
  expect(existsSync(join(folder, 'out/reliability-person.png'))).toBe(true);
  expect(tokens).toContain('Bearer a-static-token');
});

test('a service that publishes with another calibration is not measured: its scores cannot be led back', async () => {
  version = '0';
  const { code, err } = await calibrate();
  expect(code).toBe(2);
  expect(err).toContain('publishes scores with calibration 0, the registry has calibration 1');
});

test('too few boxes for a curve are reported with what to do', async () => {
  const { code, err } = await calibrate('--min-count', '150');
  expect(code).toBe(2);
  expect(err).toContain('200 boxes are too few for a curve: 300 or more are needed: label more pictures');
});

test.each([
  [['--scene', 'cars'], 'opens no scene cars'],
  [['--floor', '1'], '--floor is a raw score'],
  [['--labels', '/nowhere.json'], 'is no file of labels'],
  [['--pictures', '/nowhere'], 'cannot be read'],
])('%j is a mistake in the command line', async (more, words) => {
  const { code, err } = await calibrate(...more);
  expect({ code, told: err.includes(words) }).toEqual({ code: 2, told: true });
});
