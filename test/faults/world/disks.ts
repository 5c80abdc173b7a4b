import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync, statfsSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { dataDir } from '../../../deploy/local/settings.ts';
import type { Settings } from '../../../deploy/local/settings.ts';

/** A file system of its own in memory. */
export interface Disk {
  directory: string;
  /** Takes away all the space that is left. */
  fill: () => void;
  /** Gives it back. */
  clear: () => void;
  remove: () => void;
}

export type DiskOwner = 'postgres' | 'kafka' | 'work' | 'spool';

/** More than the longest run writes; what is not written takes no memory. */
const SIZE_MIB: Record<DiskOwner, number> = { postgres: 4_096, kafka: 4_096, work: 64, spool: 64 };

/** The disks that can be full; none, with a line that says why, where this process may not mount. */
export function makeDisks(settings: Settings): ReadonlyMap<DiskOwner, Disk> {
  const disks = new Map<DiskOwner, Disk>();
  try {
    for (const [owner, mebibytes] of Object.entries(SIZE_MIB)) disks.set(owner as DiskOwner, makeDisk(mebibytes));
  } catch (error) {
    console.log(`faults     no full disks: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`);
    for (const disk of disks.values()) disk.remove();
    return new Map();
  }
  for (const owner of ['postgres', 'kafka'] as const) {
    const place = dataDir(settings, owner);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(disks.get(owner)?.directory ?? '', place);
  }
  return disks;
}

function makeDisk(mebibytes: number): Disk {
  const mountPoint = mkdtempSync(join(tmpdir(), 'vision-faults-disk-'));
  const mount = (options: string) =>
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', mountPoint], { stdio: 'pipe' });
  try {
    mount(`size=${mebibytes}m`);
  } catch (error) {
    rmdirSync(mountPoint);
    throw error;
  }
  const directory = join(mountPoint, 'data');
  mkdirSync(directory);
  return {
    directory,
    fill: () => {
      // A size below what is used at that moment is refused, and 0 is no limit.
      for (let tries = 0; ; tries += 1) {
        const { blocks, bfree, bsize } = statfsSync(mountPoint);
        try {
          mount(`remount,size=${Math.max(1, blocks - bfree) * bsize}`);
          return;
        } catch (error) {
          if (tries > 20) throw error;
        }
      }
    },
    clear: () => void mount(`remount,size=${mebibytes}m`),
    remove: () => {
      execFileSync('umount', ['--lazy', mountPoint]);
      rmdirSync(mountPoint);
    },
  };
}
