import { storedFrames } from '../../support/stored-frames.ts';
import type { StoredFrame } from '../../support/stored-frames.ts';
import { results } from '../../support/video.ts';
import { watchDisagreements } from '../../support/watch-agreement.ts';
import { expectedOf, readFrameLog } from '../frame-log.ts';
import type { Expected, FrameLog } from '../frame-log.ts';
import { taskIdOf } from '../workload.ts';
import type { Create } from '../workload.ts';
import { objectsDigest } from '../objects-digest.ts';
import { inLanes } from './checks.ts';
import type { Invariant } from './invariant.ts';

export const frameInvariants: Invariant[] = [
  {
    id: 'I8',
    says: 'Every frame the broker took while the fence of its worker held is stored exactly once, as it was sent',
    check: async ({ world, stores, workload }) => {
      const log = await readFrameLog(world.brokers);
      const stored = await storedFrames(stores.askResults);
      const jobs = [...log.frames]
        .filter(([jobId]) => !workload.deletions.has(jobId))
        .flatMap(([jobId, frames]) => compare(jobId, expectedOf(frames, log.ends.get(jobId)), stored.get(jobId) ?? []));
      const unknown = [...stored.keys()].filter((taskId) => !log.frames.has(taskId));
      return [
        ...jobs,
        ...unknown.map((taskId) => `task ${taskId} has frames that nobody sent`),
        ...missing(world.player.acknowledged, log),
      ];
    },
  },
  {
    id: 'read',
    says: 'A caller that follows a task reads every stored frame once, with the objects that the broker took',
    check: async (state) => {
      const stored = await storedFrames(state.stores.askResults);
      const log = await readFrameLog(state.world.brokers);
      const { deletions } = state.workload;
      const creates = state.workload.creates.filter(
        (create) => isVideo(create.kind) && !deletions.has(taskIdOf(create) ?? ''),
      );
      return (await inLanes(creates, (create) => readAsCaller(create, { stored, log }))).flat();
    },
  },
  {
    id: 'watch',
    says: 'Frames, tracks and timeline of an ended task agree: frames of each track, frames counted, time covered and gaps',
    check: async ({ workload }) => {
      const creates = workload.creates.filter(({ kind }) => kind === 'real stream' || kind === 'real upload');
      const compared = (await inLanes(creates, watchedAsCaller)).filter((breaches) => breaches !== undefined);
      return compared.length > 0 ? compared.flat() : ['no task of the real workers has ended, so this shows nothing'];
    },
  },
  {
    id: 'forms',
    says: 'Real workers published frames in both forms, in segments and one by one',
    check: async ({ world }) => {
      const { frames } = await readFrameLog(world.brokers);
      const real = [...frames].flatMap(([jobId, list]) => (world.backends.isReal(jobId) ? list : []));
      return [
        ...(real.some(({ isOfSegment }) => isOfSegment) ? [] : ['no segment was published']),
        ...(real.some(({ isOfSegment }) => !isOfSegment) ? [] : ['no frame was published by itself']),
      ];
    },
  },
  {
    id: 'seq',
    says: 'No number of a frame is used twice for two frames',
    check: async ({ world }) => {
      const { frames } = await readFrameLog(world.brokers);
      return [...frames].flatMap(([jobId, list]) => {
        const { reused } = expectedOf(list);
        return reused.length > 0 ? [`job ${jobId}: ${reused.length} numbers, ${reused.slice(0, 5).join(', ')} …`] : [];
      });
    },
  },
];

function compare(jobId: string, { frames, fenced }: Expected, stored: readonly StoredFrame[]): string[] {
  const times = new Map(stored.map(({ seq, timeMs }) => [seq, timeMs]));
  const lost = [...frames.keys()].filter((seq) => !times.has(seq));
  const changed = [...frames.values()].filter(({ seq, timeMs }) => (times.get(seq) ?? timeMs) !== timeMs);
  const invented = [...times.keys()].filter((seq) => !frames.has(seq) && !fenced.has(seq));
  const twice = [...Map.groupBy(stored, ({ seq }) => seq)].filter(([, same]) => same.length > 1).map(([seq]) => seq);
  const say = (what: string, seqs: number[]) =>
    seqs.length > 0
      ? [`job ${jobId}: ${seqs.length} of ${frames.size} frames ${what}: ${seqs.slice(0, 5).join(', ')} …`]
      : [];
  return [
    ...say('are not stored', lost),
    ...say(
      'were stored as others',
      changed.map(({ seq }) => seq),
    ),
    ...say('were sent by nobody', invented),
    ...say('are stored twice', twice),
  ];
}

/** What the broker acknowledged to the player and does not have. */
function missing(acknowledged: ReadonlyMap<string, number>, log: FrameLog): string[] {
  return [...acknowledged].flatMap(([jobId, count]) => {
    const taken = new Set(log.frames.get(jobId)?.map(({ seq }) => seq)).size;
    return taken >= count ? [] : [`job ${jobId}: the broker acknowledged ${count} frames and has ${taken}`];
  });
}

const ENDED = new Set(['stopped', 'succeeded', 'failed']);

/** Undefined when there is nothing to compare: no such task, or it has not ended. */
async function watchedAsCaller(create: Create): Promise<string[] | undefined> {
  const id = taskIdOf(create);
  if (id === undefined) return undefined;
  const { body } = await create.caller.get(`/v1/vision/tasks/${id}`);
  return ENDED.has(String(body['status'])) ? watchDisagreements(create.caller, id) : undefined;
}

const isVideo = (kind: string) => /^(real )?(stream|upload)$/.test(kind);

interface Kept {
  stored: ReadonlyMap<string, readonly StoredFrame[]>;
  log: FrameLog;
}

async function readAsCaller(create: Create, { stored, log }: Kept): Promise<string[]> {
  const id = taskIdOf(create);
  if (id === undefined) return [];
  const times: number[] = [];
  const sent = Map.groupBy(log.frames.get(id) ?? [], ({ seq }) => `${id}-${seq}`);
  const changed: string[] = [];
  let cursor = '';
  for (let pages = 0; pages < 500; pages += 1) {
    const page = await results(create.caller, id, `?limit=200&min_score=0${cursor ? `&cursor=${cursor}` : ''}`);
    for (const { frame_id, frame_time_ms, objects } of page.items) {
      times.push(frame_time_ms);
      const digest = objectsDigest(objects);
      if (!sent.get(frame_id)?.some((frame) => frame.objects === digest)) changed.push(frame_id);
    }
    cursor = page.resume_cursor;
    if (cursor === '' || page.items.length === 0) break;
  }
  const expected = (stored.get(id) ?? []).map(({ timeMs }) => timeMs).sort((a, b) => a - b);
  times.sort((a, b) => a - b);
  const breaches =
    changed.length > 0 ? [`task ${id}: other objects than were sent in ${changed.slice(0, 5).join(', ')}`] : [];
  if (JSON.stringify(times) !== JSON.stringify(expected))
    breaches.push(`task ${id}: ${expected.length} frames are stored, ${times.length} were read`);
  return breaches;
}
