import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { fail } from '@vision/contracts/errors';
import type { ImageProcess } from '../src/images/image-process.ts';
import { createDecoderLane } from '../src/images/decoder-lane.ts';
import { createSandbox } from '../src/sandbox/sandbox.ts';
import { serveVideo } from './support/job-service.ts';
import { atEnd, street } from './support/live-watch.ts';

const run = promisify(execFile);
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

test.each(['require', 'off'])(
  'a process without file descriptors fails the one image, video or stream and reads the next (sandbox: %s)',
  async (mode) => {
    const script = path('./fixtures/without-descriptors.ts');
    const camera = await serveVideo(street);
    atEnd(camera.close);
    const inputs = [path('../../../examples/street.jpg'), street, camera.url];
    const node = [process.execPath, '--conditions=@vision/source', script, mode, ...inputs];
    const { stdout } = await run('prlimit', ['--nofile=120', '--', ...node]);
    expect(JSON.parse(stdout)).toEqual({
      without: { image: 'decoder_not_started', video: 'decoder_not_started', stream: 'decoder_not_started' },
      lost: 0,
      later: ['decoded', 'opened'],
    });
  },
);

test('a closed sandbox starts nothing, whether or not it isolates', async () => {
  for (const mode of ['require', 'off'] as const) {
    const closed = await createSandbox(mode);
    closed.close();
    expect(() => closed.spawn({ program: 'true', args: [] }, [])).toThrow('closed');
  }
});

/** A decoder that works until it is killed. */
function idleProcess(started: ImageProcess[]): ImageProcess {
  const ended = Promise.withResolvers<void>();
  let isAlive = true;
  const process: ImageProcess = {
    decode: () => Promise.reject(new Error('the test decodes nothing')),
    get isAlive() {
      return isAlive;
    },
    hasWorked: true,
    isWorn: false,
    ended: ended.promise,
    kill: () => {
      isAlive = false;
      ended.resolve();
    },
  };
  started.push(process);
  return process;
}

test('an image that waits when the decoders stop is refused as unavailable and starts no process', async () => {
  const started: ImageProcess[] = [];
  let lost = 0;
  const startProcess = () => idleProcess(started);
  const lane = createDecoderLane({ places: 1, startProcess, onLost: () => (lost += 1) });
  lane.start();
  const begun = Promise.withResolvers<void>();
  const first = lane.run(async (decoder) => {
    begun.resolve();
    await decoder.ended;
    throw new Error('the decoder was killed');
  });
  const waiting = lane.run(() => Promise.resolve('decoded'));
  await begun.promise;
  const before = started.length;
  lane.stop();
  await expect(first).rejects.toMatchObject({ kind: 'unavailable', reason: 'decoder_stopped' });
  await expect(waiting).rejects.toMatchObject({ kind: 'unavailable', reason: 'decoder_stopped' });
  expect(started).toHaveLength(before);
  expect(started.filter(({ isAlive }) => isAlive)).toEqual([]);
  // No image is to blame for a stop.
  expect(lost).toBe(0);
});

test('a decoder that cannot be started fails one image; the next one is decoded', async () => {
  const started: ImageProcess[] = [];
  let failures = 3;
  const startProcess = () => {
    failures -= 1;
    if (failures >= 0) throw fail.upstreamDown('decoder_not_started');
    return idleProcess(started);
  };
  const lane = createDecoderLane({ places: 1, startProcess, onLost: () => undefined });
  lane.start();
  const refused = await lane.run(() => Promise.resolve('decoded')).catch((error: unknown) => error);
  expect(refused).toMatchObject({ kind: 'unavailable', reason: 'decoder_not_started' });
  await expect(lane.run(() => Promise.resolve('decoded')).catch(() => 'failed')).resolves.toBe('failed');
  await expect(lane.run(() => Promise.resolve('decoded'))).resolves.toBe('decoded');
  lane.stop();
});
