import { compareDeliveries } from './events.ts';
import type { Delivered } from './events.ts';
import { expectedOf, readFrameLog } from './frame-log.ts';
import { tellStops } from './invariants/stops.ts';
import type { Listeners } from './listeners.ts';
import type { State } from './state.ts';

/** What the system did in a run, so that nobody believes a run in which nothing happened. */
export async function tellFacts(state: State, listeners: Listeners): Promise<string[]> {
  const { world, stores, workload } = state;
  const log = await readFrameLog(world.brokers);
  const real = await stores.query<{ attempts: number; frames: number }>(
    'inference',
    'select attempt as attempts, frames_published::int as frames from jobs where scene_code is not null',
  );
  const realFrames = [...log.frames].filter(([jobId]) => world.backends.isReal(jobId));
  const all = [...log.frames].map(([jobId, frames]) => expectedOf(frames, log.ends.get(jobId)));
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
    `${workload.deletions.size} of them and of the image calls were deleted by their owners.`,
    await tellStops(state),
    ...(await eventFacts(state, listeners)),
  ];
}

const count = (lists: unknown[][]) => lists.reduce((sum, list) => sum + list.length, 0);

async function eventFacts(state: State, listeners: Listeners): Promise<string[]> {
  const { world } = state;
  const all = await compareDeliveries(state, listeners);
  const outcomes = Object.groupBy(world.receiver.arrivals, ({ outcome }) => outcome);
  const turnedAway = outcomes['turned away']?.length ?? 0;
  const byDoor = (door: 'webhook' | 'mqtt', name: string) =>
    countsOf(
      all.filter(({ listener }) => listener.door === door),
      name,
    );
  return [
    byDoor('webhook', 'Webhooks'),
    `${turnedAway} webhooks were turned away by their receiver and ${outcomes.stale?.length ?? 0} refused because the clock of the sender was wrong.`,
    ...(world.mqtt ? [byDoor('mqtt', 'MQTT')] : []),
  ];
}

function countsOf(all: readonly Delivered[], name: string): string {
  const sum = (what: (one: Delivered) => number) => all.reduce((total, one) => total + what(one), 0);
  return `${name}: ${sum(({ events }) => events)} events of the logs for ${all.length} endpoints, ${sum(({ delivered }) => delivered)} delivered, ${sum(({ repeated }) => repeated)} repeated, ${sum(({ lost }) => lost.length)} lost, ${sum(({ altered }) => altered.length)} altered.`;
}
