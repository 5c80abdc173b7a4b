import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessAborted } from '@vision/shared/async/unless-aborted';
import { asAppError } from '@vision/shared/errors';
import type { ObjectStore } from '@vision/shared/object-store/object-store';
import { SourceError } from '../domain/source-error.ts';

/** Local copies of uploaded videos: ffmpeg has to seek in them, because their index may stand at the end. */
export interface VideoFiles {
  /** Makes a directory for the copies of this process; those of processes that are gone are removed first. */
  start: () => Promise<void>;
  /**
   * A copy of the object; two users of one object share it. A wait that is aborted leaves the download to the next
   * user.
   * @throws SourceError `not_found`, `unreadable` when it is larger than allowed; AppError when the store is away.
   */
  open: (key: string, signal: AbortSignal) => Promise<VideoFile>;
  /** Removes everything. */
  stop: () => Promise<void>;
}

interface VideoFile {
  path: string;
  /** The copy is removed when nobody needed it for a while. */
  release: () => void;
}

export interface VideoFilesOptions {
  store: Pick<ObjectStore, 'stat' | 'getToFile'>;
  /** Directory for the copies of all workers of this machine. */
  directory: string;
  maxBytes: number;
  /** How long a copy outlives its last user: a submitted job looks at a file that its worker opens right after. */
  keepMs: number;
}

interface Copy {
  path: string;
  ready: Promise<void>;
  /** Ends the download when nobody wants the copy any more. */
  given: AbortController;
  users: number;
  timer?: NodeJS.Timeout | undefined;
}

export function createVideoFiles(options: VideoFilesOptions): VideoFiles {
  const { directory, keepMs } = options;
  let own: string | undefined;
  const copies = new Map<string, Copy>();

  const drop = (key: string, copy: Copy) => {
    if (copies.get(key) === copy) copies.delete(key);
    clearTimeout(copy.timer);
    copy.given.abort();
    // A failed download is reported to those who wait for the copy; here only the file is removed.
    void copy.ready.catch(() => undefined).finally(() => rm(copy.path, { force: true }));
  };
  const begin = (key: string): Copy => {
    if (own === undefined) throw new Error('there is no directory for videos before the start');
    const path = join(own, `${randomUUID()}.video`);
    const given = new AbortController();
    const copy: Copy = { path, given, ready: download(options, { key, path, signal: given.signal }), users: 0 };
    copy.ready.catch(() => drop(key, copy));
    copies.set(key, copy);
    return copy;
  };

  return {
    start: async () => {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await removeOrphans(directory);
      own = await mkdtemp(join(directory, `${process.pid}-`));
    },
    open: async (key, signal) => {
      const copy = copies.get(key) ?? begin(key);
      clearTimeout(copy.timer);
      copy.users += 1;
      let isReleased = false;
      const release = () => {
        if (isReleased) return;
        isReleased = true;
        copy.users -= 1;
        if (copy.users === 0) copy.timer = setTimeout(() => drop(key, copy), keepMs).unref();
      };
      try {
        await unlessAborted(signal, copy.ready);
      } catch (error) {
        release();
        throw error;
      }
      return { path: copy.path, release };
    },
    stop: async () => {
      copies.forEach((copy, key) => drop(key, copy));
      if (own !== undefined) await rm(own, { recursive: true, force: true });
    },
  };
}

async function download(
  { store, maxBytes }: VideoFilesOptions,
  { key, path, signal }: { key: string; path: string; signal: AbortSignal },
): Promise<void> {
  const found = await store.stat(key);
  if (!found) throw new SourceError('not_found');
  if (found.bytes > maxBytes) throw new SourceError('unreadable');
  try {
    await store.getToFile(key, path, signal);
  } catch (error) {
    throw asAppError(error)?.kind === 'not_found' ? new SourceError('not_found') : error;
  }
}

async function removeOrphans(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const pid = Number(/^(\d+)-/.exec(name)?.[1]);
    // In a container every start of the program may have the same number.
    if (Number.isInteger(pid) && (pid === process.pid || !isAlive(pid)))
      await rm(join(directory, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
