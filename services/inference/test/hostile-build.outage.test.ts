import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { hostileBuild } from '../../../bench/flood/hostile-build.ts';
import { hostileStream } from '../../../test/support/hostile-streams/hostile-stream.ts';
import { jobWorld, serveVideo } from './support/job-service.ts';
import { atEnd, street } from './support/live-watch.ts';

const root = join(import.meta.dirname, '../../..');
/** Packets of four bytes, each of which takes a reader time; a budget admits 40,000 at once and 10,000 a second. */
const FLOOD = 'RTSP packets without content';
const FLOOD_BYTES = 10e6;
const FRAMES = 5;

test("a flood that no bound of its reader holds back leaves a neighbour's job its frames", async () => {
  const build = hostileBuild();
  atEnd(build.delete);
  const world = await jobWorld();
  atEnd(world.close);
  const [camera, hostile] = await Promise.all([serveVideo(street), hostileStream(FLOOD)]);
  atEnd(camera.close);
  atEnd(hostile.close);
  const models = { MODELS_DIR: join(root, 'services/inference/models'), SCENES_FILE: join(root, 'config/scenes.json') };
  const worker = await world.spawn(models, build.folder);
  atEnd(worker.kill);
  const submit = async (url: string) => {
    const source = { kind: 'stream', url, pinned_address: '127.0.0.1' };
    const job = { job_id: randomUUID(), scene_code: 'person_vehicle', lower_bound: 0.3, source };
    await until(async () => (await worker.submit(job)).status === 201);
    return job.job_id;
  };
  const framesOf = (jobId: string) => world.messages(jobId).filter(({ type }) => type === 'vision.frame.v1').length;
  const [neighbour, attacker] = await Promise.all([submit(camera.url), submit(hostile.url)]);
  await until(() => framesOf(neighbour) > 0 && framesOf(attacker) > 0);

  const { floodBytes: before } = await hostile.turn();
  const frames = framesOf(neighbour);
  await until(async () => (await hostile.cost()).floodBytes - before > FLOOD_BYTES);
  await until(() => framesOf(neighbour) >= frames + FRAMES);
  expect((await worker.read(attacker)).status).toBe('running');
  expect(await worker.read(neighbour)).toMatchObject({ status: 'running', attempt: 1 });
  await Promise.all([neighbour, attacker].map((jobId) => worker.stop(jobId)));
  const ends = await Promise.all([neighbour, attacker].map((jobId) => worker.ended(jobId)));
  expect(ends.map(({ status }) => status)).toEqual(['stopped', 'stopped']);
});
