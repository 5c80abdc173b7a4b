import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A separate in-memory file system, which can be filled to its last byte. */
export interface SmallDisk {
  directory: string;
  /** Uses up the free space. */
  fill: () => void;
  /** Frees the space that `fill` has used up. */
  clear: () => void;
  remove: () => void;
}

/** Reason why this process may not mount a file system; undefined when it may. */
export const noMount = ((): string | undefined => {
  try {
    const disk = smallDisk(1);
    disk.remove();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
})();

export function smallDisk(mebibytes: number): SmallDisk {
  const directory = mkdtempSync(join(tmpdir(), 'vision-small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', directory], { stdio: 'pipe' });
  } catch (error) {
    rmSync(directory, { recursive: true });
    throw error;
  }
  const ballast = join(directory, 'ballast');
  mkdirSync(join(directory, 'work'));
  return {
    directory: join(directory, 'work'),
    fill: () => {
      const block = Buffer.alloc(64 * 1024);
      try {
        for (;;) writeFileSync(ballast, block, { flag: 'a' });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    },
    clear: () => rmSync(ballast, { force: true }),
    remove: () => {
      execFileSync('umount', ['--lazy', directory]);
      rmSync(directory, { recursive: true });
    },
  };
}
