import { Transform, pipeline } from 'node:stream';
import type { Readable } from 'node:stream';
import type { Budget } from '@vision/streams/budget';

/**
 * The same body, no faster than the budget allows; what is left stays with the sender. Each chunk is a part: a server
 * may send chunks of one byte.
 */
export function withinBudget(body: Readable, budget: Budget): Readable {
  const counted = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      budget.spend({ bytes: chunk.length, parts: 1 });
      budget.ready().then(() => done(null, chunk), done);
    },
  });
  return pipeline(body, counted, () => undefined);
}
