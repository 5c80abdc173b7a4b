import { loadClip } from './clip.ts';
import type { Clip } from './clip.ts';
import { cutWalkers, paste } from './pasted.ts';
import type { Frame, Sequence } from './sequence.ts';
import { simulate } from './simulation/simulate.ts';
import { withDetector } from './with-detector.ts';
import type { Detect } from './with-detector.ts';

const RATES = [5, 2];
const SEEDS = { fit: [1, 2, 3, 4, 5, 6, 7, 8], report: [101, 102, 103, 104, 105, 106, 107, 108] };
const PASTED_SEEDS = { fit: [5, 6, 7], report: [105, 106, 107] };

/** Simulated streets; needs no model and no video. */
export function simulated(half: Sequence['half']): Sequence[] {
  return SEEDS[half].flatMap((seed) => RATES.flatMap((fps) => simulate(seed, fps, half)));
}

/** Pictures that the embedded detector looks at: the example video, and people of it pasted over a drawn pavement. */
export function detected(half: Sequence['half']): Promise<Sequence[]> {
  return withDetector(async (detect) => {
    const clip = await loadClip();
    const sequences = await pasted(clip, half, detect);
    // The clip is too short to be halved, and its errors are those that the simulation has: it only reports.
    return half === 'report' ? [...sequences, ...(await sampled(clip, detect))] : sequences;
  });
}

async function pasted(clip: Clip, half: Sequence['half'], detect: Detect): Promise<Sequence[]> {
  const walkers = cutWalkers(clip);
  const sequences: Sequence[] = [];
  for (const seed of PASTED_SEEDS[half]) {
    for (const fps of RATES) {
      const frames: Frame[] = [];
      for (const { timeMs, picture, people } of paste(clip, walkers, seed, fps)) {
        frames.push({ timeMs, truth: people, found: await detect(picture) });
      }
      sequences.push({ source: `pasted people, ${fps}/s`, half, fps, aspect: clip.width / clip.height, frames });
    }
  }
  return sequences;
}

/** The clip as a job samples it, beginning with each picture that could be the first. */
async function sampled(clip: Clip, detect: Detect): Promise<Sequence[]> {
  const found: Frame['found'][] = [];
  for (const picture of clip.pictures) found.push(await detect(picture));
  return RATES.flatMap((fps) => {
    const step = clip.fps / fps;
    return Array.from({ length: step }, (_, phase) => ({
      source: `street.mp4, ${fps}/s`,
      half: 'report' as const,
      fps,
      aspect: clip.width / clip.height,
      frames: found.flatMap((boxes, index) =>
        index % step === phase
          ? [{ timeMs: (1000 * index) / clip.fps, truth: clip.people[index] ?? [], found: boxes }]
          : [],
      ),
    }));
  });
}
