import { stat, statfs } from 'node:fs/promises';
import { createGate } from '@vision/shared/async/gate';
import { fail } from '@vision/contracts/errors';

/** Space for files below a directory: what the setting allows and the file system has. */
export interface WorkSpace {
  /** Reserves space for a file of this size before it is written. @throws AppError `no_local_space` */
  reserve: (path: string, bytes: number) => Promise<void>;
  /** The file is gone, or was never written. */
  free: (path: string) => void;
  /** Asks the file system how much of it is left. */
  measure: () => Promise<void>;
  /** Bytes reserved, and the most that can be reserved as measured last. */
  usage: () => SpaceUsage;
}

export interface SpaceUsage {
  usedBytes: number;
  limitBytes: number;
}

/**
 * @param maxBytes most bytes of all files together, 0 for as many as the file system has. A container whose volume is
 * limited by its platform sees the file system of its node, so there the setting is what counts.
 */
export function createWorkSpace(directory: string, maxBytes: number): WorkSpace {
  const reserved = new Map<string, number>();
  // One at a time: otherwise two that compete for the last space would refuse each other.
  const gate = createGate({ concurrency: 1 });
  let limitBytes = maxBytes;
  const usedBytes = () => [...reserved.values()].reduce((sum, bytes) => sum + bytes, 0);

  const measure = async () => {
    const { bavail, bsize } = await statfs(directory);
    // What is reserved and not yet written still counts as free there.
    const written = await Promise.all([...reserved].map(([path, bytes]) => writtenBytes(path, bytes)));
    const total = bavail * bsize + written.reduce((sum, bytes) => sum + bytes, 0);
    limitBytes = maxBytes === 0 ? total : Math.min(maxBytes, total);
  };
  return {
    reserve: (path, bytes) =>
      gate.run(async () => {
        await measure();
        if (usedBytes() + bytes > limitBytes) throw fail.sysUnavailable('no_local_space');
        reserved.set(path, bytes);
      }),
    free: (path) => void reserved.delete(path),
    measure,
    usage: () => ({ usedBytes: usedBytes(), limitBytes }),
  };
}

async function writtenBytes(path: string, expected: number): Promise<number> {
  try {
    return Math.min(expected, (await stat(path)).size);
  } catch {
    // It is not there yet.
    return 0;
  }
}
