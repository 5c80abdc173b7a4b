import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '@vision/shared/testing/until';
import type { Caller, Part } from './system.ts';

const run = promisify(execFile);

export interface FrameItem {
  frame_id: string;
  frame_time_ms: number;
  image: { width: number; height: number };
  objects: { label: string; score: number; track_id: string }[];
  objects_total?: number;
}
export interface ResultPage {
  items: FrameItem[];
  next_cursor: string;
  resume_cursor: string;
}

export const video = (bytes: Uint8Array, filename = 'a.mp4'): Part => ({
  name: 'file',
  value: new Uint8Array(bytes),
  type: 'video/mp4',
  filename,
});

export async function results(caller: Pick<Caller, 'get'>, taskId: string, query = ''): Promise<ResultPage> {
  const answer = await caller.get(`/v1/vision/tasks/${taskId}/results${query}`);
  if (answer.status !== 200) throw new Error(`results: ${answer.status} ${answer.text}`);
  return answer.body as unknown as ResultPage;
}

/** Follows a task by resume_cursor until everything was delivered. */
export async function followAll(caller: Caller, taskId: string, limit = 7): Promise<FrameItem[]> {
  const frames: FrameItem[] = [];
  let cursor = '';
  await until(
    async () => {
      const page = await results(caller, taskId, `?limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`);
      frames.push(...page.items);
      cursor = page.resume_cursor;
      return cursor === '';
    },
    { intervalMs: 100 },
  );
  return frames;
}

export async function untilStatus(caller: Caller, taskId: string, ...wanted: string[]): Promise<string> {
  return until(async () => {
    const { body } = await caller.get(`/v1/vision/tasks/${taskId}`);
    const status = String(body['status']);
    return wanted.includes(status) ? status : undefined;
  });
}

/** A short video made by ffmpeg with these arguments between `-y` and the output file. */
export async function madeVideo(name: string, ...args: string[]): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'vision-e2e-'));
  try {
    const file = join(folder, name);
    await run('ffmpeg', ['-v', 'error', '-y', ...args, file]);
    return await readFile(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}
