/** `make demo`: recognises objects in the pictures and the video of this folder through the public API. */
import { openAsBlob } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { createVisionClient } from '@vision/client';
import { signInAddress } from '../deploy/local/console.ts';
import { annotate } from './annotate.ts';
import { followVideo, watchLiveStream } from './demo-video.ts';
import { newKey } from './new-key.ts';

const here = import.meta.dirname;
const out = join(here, 'out');
const access = { baseUrl: need('BASE_URL'), adminUrl: need('ADMIN_URL'), adminToken: need('ADMIN_TOKEN') };

await mkdir(out, { recursive: true });
const apiKey = await newKey(access, 'demo');
const client = createVisionClient({ baseUrl: access.baseUrl, apiKey });
await detectPictures(['street.jpg', 'street.png', 'street.webp'], 'person_vehicle');
await detectPictures(['fire.jpg'], 'fire_smoke');
await followVideo(client, join(here, 'street.mp4'), out);
// A system in containers cannot reach the stream that this process would serve.
if (process.env['DEMO_LIVE'] !== 'no') await watchLiveStream(client, join(here, 'street.mp4'), out);
const usage = await client.usage();
console.log(
  `\nUsage today: ${usage.video.used}/${usage.video.limit} video tasks, ${usage.image.used}/${usage.image.limit} images`,
);
console.log(`Annotated pictures: ${out}`);
const address = await signInAddress(access, apiKey);
if (address !== undefined) console.log(`The same in the console, for the next minute: ${address}`);

async function detectPictures(names: string[], scene: string): Promise<void> {
  const files = await Promise.all(
    names.map(async (name) => {
      const type = `image/${extname(name).slice(1).replace('jpg', 'jpeg')}`;
      return new File([await openAsBlob(join(here, name), { type })], name, { type });
    }),
  );
  const call = await client.detect(files, { scene_code: scene });
  console.log(`\nPictures, scene ${scene}, task ${call.task_id}`);
  for (const result of call.results) {
    const name = names[result.seq] ?? String(result.seq);
    const objects = result.status === 'succeeded' ? result.objects : [];
    console.log(`  ${name}: ${result.status} ${result.status === 'failed' ? result.error_code : ''}`);
    for (const { label, score, bbox } of objects) {
      const place = [bbox.cx, bbox.cy, bbox.width, bbox.height].map((value) => value.toFixed(3)).join('  ');
      console.log(`    ${label.padEnd(12)} ${score.toFixed(2)}   ${place}`);
    }
    // Weaker ones are printed; drawn, they would hide what is sure.
    const sure = objects.filter(({ score }) => score >= 0.5);
    await annotate(join(here, name), sure, join(out, `${name.replace('.', '-')}.png`));
  }
}

function need(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; run this through "make demo"`);
  return value;
}
