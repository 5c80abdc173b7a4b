import { createGate } from '@vision/shared/async/gate';
import type { Target } from './attack.ts';

const turns = createGate({ concurrency: 1 });

/**
 * Does what opens hundreds of connections from our own address, which may have 512, while nothing else does. Waiting
 * for its turn is no part of the time of an attack.
 */
export async function crowd<T>({ prepared }: Target, work: () => Promise<T>): Promise<T> {
  const done = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const turn = turns.run(() => {
    begun.resolve();
    return done.promise;
  });
  await prepared(() => begun.promise);
  try {
    return await work();
  } finally {
    done.resolve();
    await turn;
  }
}
