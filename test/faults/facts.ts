import { expectedOf, readFrameLog } from './frame-log.ts';
import type { State } from './state.ts';

/** What the system did in a run, so that nobody believes a run in which nothing happened. */
export async function tellFacts({ world, stores, workload }: State): Promise<string[]> {
  const log = await readFrameLog(world.brokers);
  const real = await stores.query<{ attempts: number; frames: number }>(
    'inference',
    'select attempt as attempts, frames_published::int as frames from jobs where scene_code is not null',
  );
  const realFrames = [...log.frames].filter(([jobId]) => world.backends.isReal(jobId));
  const all = [...log.frames.values()].map(expectedOf);
  const fenced = all.reduce((sum, one) => sum + one.fenced.size, 0);
  const servers = world.streams.live.map(({ server, url }) => {
    const tasks = workload.creates.filter(
      ({ kind, streamUrl, answers }) =>
        kind === 'real stream' &&
        new URL(streamUrl).port === new URL(url).port &&
        answers.some((a) => a?.status === 201),
    );
    return `${tasks.length} streams of ${server}`;
  });
  return [
    `${real.length} jobs of real workers (${servers.join(', ')}), ${real.filter(({ attempts }) => attempts > 1).length} of them taken over at least once.`,
    `${count(realFrames.map(([, frames]) => frames))} frames of real workers at the broker, ${count([...log.frames.values()])} with those of the script, ${fenced} of them from workers that had lost their job.`,
  ];
}

const count = (lists: unknown[][]) => lists.reduce((sum, list) => sum + list.length, 0);
