import type { Caller } from './system.ts';
import { results } from './video.ts';

type Reader = Pick<Caller, 'get'>;

interface Track {
  track_id: string;
  frames: number;
}
interface Timeline {
  coverage: { from_ms: number; to_ms: number; covered_ms: number; gaps: number };
  items: { frames: number }[];
  gaps: { from_ms: number; to_ms: number }[];
}

/**
 * Reads frames, tracks and timeline of a task whose frames have all come, and returns where they contradict each other:
 * the frames of each track, tracks that are missing or listed twice, frames that were counted, and time that is neither
 * covered nor a gap.
 */
export async function watchDisagreements(caller: Reader, taskId: string): Promise<string[]> {
  const [frames, tracks] = [await countFrames(caller, taskId), await allTracks(caller, taskId)];
  const listed = new Map(tracks.map((track) => [track.track_id, track.frames]));
  const found = [
    ...(listed.size === tracks.length ? [] : [`${tracks.length - listed.size} tracks are listed twice`]),
    ...[...listed]
      .filter(([id, count]) => frames.ofTracks.get(id) !== count)
      .map(([id, count]) => `track ${id} says ${count} frames and has ${frames.ofTracks.get(id) ?? 0}`),
    // An object of one frame below the threshold is no track.
    ...[...frames.ofTracks].filter(([id, count]) => count > 1 && !listed.has(id)).map(([id]) => `no track ${id}`),
    ...timelineBreaches(await timelineOf(caller, taskId), frames.total),
  ];
  return found.map((breach) => `task ${taskId}: ${breach}`);
}

function timelineBreaches({ coverage, items, gaps }: Timeline, frames: number): string[] {
  const counted = items.reduce((sum, one) => sum + one.frames, 0);
  const lasting = gaps.reduce((sum, gap) => sum + gap.to_ms - gap.from_ms, 0);
  const whole = coverage.to_ms - coverage.from_ms;
  // A gap with several reasons is several entries, and only the longest of very many gaps are listed.
  const isCut = gaps.length < coverage.gaps;
  return [
    ...(counted === frames ? [] : [`the timeline has ${counted} of ${frames} frames`]),
    ...(isCut || coverage.covered_ms + lasting === whole
      ? []
      : [`${coverage.covered_ms} ms are covered and ${lasting} ms are gaps, of ${whole} ms`]),
  ];
}

async function countFrames(caller: Reader, taskId: string) {
  const ofTracks = new Map<string, number>();
  let total = 0;
  for (let cursor: string | undefined; cursor !== '';) {
    const page = await results(caller, taskId, `?limit=500&min_score=0${cursor ? `&cursor=${cursor}` : ''}`);
    total += page.items.length;
    for (const { track_id: id } of page.items.flatMap(({ objects }) => objects))
      ofTracks.set(id, (ofTracks.get(id) ?? 0) + 1);
    cursor = page.next_cursor;
  }
  return { total, ofTracks };
}

async function allTracks(caller: Reader, taskId: string): Promise<Track[]> {
  const tracks: Track[] = [];
  for (let cursor: string | undefined; cursor !== '';) {
    const query = `limit=500&order=oldest&min_score=0${cursor ? `&cursor=${cursor}` : ''}`;
    const answer = await caller.get(`/v1/vision/tasks/${taskId}/tracks?${query}`);
    if (answer.status !== 200) throw new Error(`tracks: ${answer.status} ${answer.text}`);
    const page = answer.body as unknown as { items: Track[]; next_cursor: string };
    tracks.push(...page.items);
    cursor = page.next_cursor;
  }
  return tracks;
}

async function timelineOf(caller: Reader, taskId: string): Promise<Timeline> {
  const answer = await caller.get(`/v1/vision/tasks/${taskId}/timeline`);
  if (answer.status !== 200) throw new Error(`timeline: ${answer.status} ${answer.text}`);
  return answer.body as unknown as Timeline;
}
