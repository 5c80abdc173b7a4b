import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Caller, example, scene } from '../test/support/system.ts';
import { atMost } from './figures.ts';
import type { Figure } from './figures.ts';
import { peakMiB, residentMiB } from './processes.ts';

export const name = 'uploads';

const MiB = 1024 * 1024;
const SIZE = 512 * MiB;
const programs = ['gateway', 'tasks'];

/** Growth of gateway and tasks while four videos of 512 MiB are uploaded at once. */
export async function run(): Promise<{ figures: Figure[] }> {
  const caller = await Caller.create({ video_tasks_per_day: 100, video_uploads: 10, active_tasks: 100 });
  const bytes = await paddedVideo();
  // What a process takes once, for its first upload of any size, is no growth.
  await caller.stop(await upload(caller, new Blob([await example('street.mp4')], { type: 'video/mp4' })));
  const before = new Map(programs.map((program) => [program, residentMiB(program)]));
  const tasks: string[] = [];
  const peaks = await peakMiB(programs, () =>
    Promise.all([1, 2, 3, 4].map(async () => tasks.push(await upload(caller, bytes)))),
  );
  await Promise.all(tasks.map((taskId) => caller.stop(taskId)));
  return {
    figures: programs.map((program) => ({
      name: `${program}, growth during 4 uploads of 512 MiB`,
      value: (peaks.get(program) ?? Number.NaN) - (before.get(program) ?? 0),
      unit: 'MiB',
      target: atMost(100),
    })),
  };
}

/** A real video followed by a `free` box that fills it up to the limit. */
async function paddedVideo(): Promise<Blob> {
  const street = new Uint8Array(await readFile(join(import.meta.dirname, '../examples/street.mp4')));
  const rest = SIZE - street.length;
  const header = Buffer.alloc(8);
  header.writeUInt32BE(rest, 0);
  header.write('free', 4, 'latin1');
  const megabyte = new Uint8Array(MiB);
  const whole = Array.from({ length: Math.floor((rest - 8) / MiB) }, () => megabyte);
  return new Blob([street, new Uint8Array(header), ...whole, new Uint8Array((rest - 8) % MiB)], { type: 'video/mp4' });
}

async function upload(caller: Caller, bytes: Blob): Promise<string> {
  const body = new FormData();
  body.set('scene_code', scene('person_vehicle').value);
  body.set('file', bytes, 'large.mp4');
  const answer = await caller.createUpload(body);
  if (answer.status !== 201) throw new Error(`upload: ${answer.status} ${answer.text.slice(0, 300)}`);
  return String(answer.body['task_id']);
}
