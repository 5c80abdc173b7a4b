import type { ResultFrame, VisionClient } from '@vision/client';

/** A live stream whose frames a caller reads as they come. */
export interface Followed {
  taskId: string;
  /** Those that were read: each was answered to the caller once. */
  frames: ResultFrame[];
  /** Why reading ended before the task did. */
  failure: unknown;
  ended: Promise<void>;
}

/** Reads the frames of a task until it has ended. */
export function followStream(client: VisionClient, taskId: string): Followed {
  const followed: Followed = { taskId, frames: [], failure: undefined, ended: Promise.resolve() };
  const read = async () => {
    for await (const frame of client.frames(taskId)) followed.frames.push(frame);
  };
  followed.ended = read().catch((error: unknown) => void (followed.failure = error));
  return followed;
}

/** The longest time without a frame after a moment, in Unix milliseconds as frames count. */
export function stillnessOf(frames: ResultFrame[], afterMs: number): { fromMs: number; ms: number } {
  let longest = { fromMs: afterMs, ms: 0 };
  for (const { from, to } of pauses(frames)) {
    if (to >= afterMs && to - from > longest.ms) longest = { fromMs: from, ms: to - from };
  }
  return longest;
}

/** Pauses that hold a whole second without a frame, and that no gap of the timeline tells. */
export function untoldStillness(frames: ResultFrame[], gaps: { from_ms: number; to_ms: number }[]): string[] {
  return pauses(frames)
    .filter(({ from, to }) => Math.floor(to / 1000) - Math.floor(from / 1000) >= 2)
    .filter(({ from, to }) => !gaps.some((gap) => gap.from_ms < to && gap.to_ms > from))
    .map(({ from, to }) => `${new Date(from).toISOString()} (${to - from} ms)`);
}

function pauses(frames: ResultFrame[]): { from: number; to: number }[] {
  const times = frames.map(({ frame_time_ms: time }) => time).toSorted((a, b) => a - b);
  return times.slice(1).map((to, index) => ({ from: times[index] ?? to, to }));
}
