import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fillQueue } from '@vision/shared/testing/full-queue';
import type { Lateness } from './late-backend.ts';

export interface LateBackend {
  url: string;
  isLateWith: (part: Lateness) => Promise<void>;
  /** While the work is done no connection to it comes about. */
  whileUnreachable: <T>(work: () => Promise<T>) => Promise<T>;
  close: () => Promise<void>;
}

/** Starts `late-backend.ts`. */
export async function startLateBackend(): Promise<LateBackend> {
  const child = fork(join(import.meta.dirname, 'late-backend.ts'), { execArgv: [] });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    url: `http://127.0.0.1:${port}`,
    isLateWith: async (part) => {
      const heard = once(child, 'message');
      child.send(part);
      await heard;
    },
    whileUnreachable: async (work) => {
      child.kill('SIGSTOP');
      const waiting = await fillQueue(port);
      try {
        return await work();
      } finally {
        for (const socket of waiting) socket.destroy();
        child.kill('SIGCONT');
      }
    },
    close: () => ended(child),
  };
}

async function ended(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
