import { setTimeout as delay } from 'node:timers/promises';
import type { Lie } from '@vision/objects/testing/lying-s3';
import { aMoment, storeOf } from './fault.ts';
import type { Fault } from './fault.ts';

/** Longer than the pause between two moves of frames to the object store. */
const LEAST_MS = 1_500;

const lies = (title: string, lie: Lie): Fault => ({
  name: `s3: ${title}`,
  holds: [storeOf('s3')],
  strike: async ({ world: { lyingS3 }, random }) => {
    const before = lyingS3.hits();
    lyingS3.tell(lie);
    await delay(LEAST_MS + aMoment(random));
    lyingS3.tell({ kind: 'none' });
    return lyingS3.hits() > before;
  },
});

/**
 * The object store answers, and not with the truth. Only frames can be told from what was stored and written again:
 * the store alone has a video.
 */
export const objectStoreLies: Fault[] = [
  lies('frames are read short', { kind: 'short_body', keys: '/segments/' }),
  lies('videos are read short', { kind: 'short_body', keys: '/videos/' }),
  lies('frames are read with wrong bytes', { kind: 'wrong_bytes', keys: '/segments/' }),
  lies('frames are taken and lost', { kind: 'loses_object', keys: '/segments/' }),
  lies('writing is forbidden', { kind: 'refuses', method: 'PUT' }),
  lies('reading is forbidden', { kind: 'refuses', method: 'GET' }),
  lies('removing is forbidden', { kind: 'refuses', method: 'POST', query: 'delete' }),
];
