import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A directory for one test file; `make` runs ffmpeg with the arguments and returns the path of what it wrote. */
export async function videoDirectory() {
  const directory = await mkdtemp(join(tmpdir(), 'vision-video-'));
  return {
    directory,
    make: async (name: string, ...args: string[]) => {
      const path = join(directory, name);
      await run('ffmpeg', ['-v', 'error', '-y', '-nostdin', ...args, path]);
      return path;
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Presentation times of all video frames in milliseconds, by ffprobe. */
export async function presentationTimes(path: string): Promise<number[]> {
  const args = ['-v', 'error', '-select_streams', 'v:0', '-show_entries', 'frame=pts_time', '-of', 'csv=p=0', path];
  const { stdout } = await run('ffprobe', args, { maxBuffer: 1 << 26 });
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Math.round(Number.parseFloat(line) * 1000));
}
