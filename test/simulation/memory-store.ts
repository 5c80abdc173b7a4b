import { fail } from '@vision/contracts/errors';
import type { ObjectStore } from '@vision/objects/object-store';
import type { Process } from './steps.ts';

/** What a store does with one call: `half` returns or keeps half of the bytes, `lost` works and does not answer. */
export type StoreAnswer = 'whole' | 'half' | 'away' | 'lost';

export interface MemoryStore {
  /** The client of a process; each call is a step. */
  of: (process: Process) => ObjectStore;
  /** The next calls take these answers in turn; those after them are answered as they should be. */
  answerWith: (answers: readonly StoreAnswer[]) => void;
}

/** Objects in memory, which all processes share. */
export function createMemoryStore(): MemoryStore {
  const objects = new Map<string, Buffer>();
  let left: StoreAnswer[] = [];
  const refuse = () => Promise.reject(new Error('not simulated'));
  const half = (body: Buffer) => body.subarray(0, body.length >> 1);
  const unanswered = () => fail.sysUnavailable('object_store_unavailable', new Error('simulated'));
  const call = async <T>(process: Process, label: string, work: (answer: StoreAnswer) => T): Promise<T> => {
    await process.step(label);
    const answer = left.shift() ?? 'whole';
    if (answer === 'away') throw unanswered();
    const result = work(answer);
    if (answer === 'lost') throw unanswered();
    return result;
  };
  return {
    answerWith: (answers) => void (left = [...answers]),
    of: (process) => ({
      put: ({ key, body }) =>
        call(process, 'put object', (answer) => {
          if (!Buffer.isBuffer(body)) throw new Error('only buffers are simulated');
          objects.set(key, answer === 'half' ? half(body) : body);
        }),
      get: (key) =>
        call(process, 'get object', (answer) => {
          const body = objects.get(key);
          if (!body) throw fail.notFound('There is no such object.', 'object_not_found');
          return answer === 'half' ? half(body) : body;
        }),
      stat: (key) =>
        call(process, 'stat object', () => {
          const body = objects.get(key);
          return body && { key, bytes: body.length, modifiedAt: new Date() };
        }),
      remove: (keys) => call(process, 'remove objects', () => keys.forEach((key) => objects.delete(key))),
      async *list(prefix) {
        const keys = await call(process, 'list objects', () =>
          [...objects.keys()].filter((key) => key.startsWith(prefix)),
        );
        for (const key of keys.sort()) yield { key, bytes: objects.get(key)?.length ?? 0, modifiedAt: new Date() };
      },
      close: () => undefined,
      bucket: 'memory',
      getRange: refuse,
      getToFile: refuse,
      abortIncomplete: refuse,
      ensureBucket: refuse,
      assertBucket: refuse,
    }),
  };
}
