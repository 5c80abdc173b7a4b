import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { asAppError } from '@vision/shared/errors';
import type { ObjectStore } from '@vision/shared/object-store/object-store';
import { deferred } from '../decoding/deferred.ts';
import { SourceError } from '../domain/source-error.ts';

/** Local copies of uploaded videos: ffmpeg has to seek in them, because their index may stand at the end. */
export interface VideoFiles {
  /**
   * A copy of the object; two users of one object share it. A wait that is aborted leaves the download to the next user.
   * @throws SourceError `not_found`, `unreadable` when it is larger than allowed; AppError when the store is away.
   */
  open: (key: string, signal: AbortSignal) => Promise<VideoFile>;
  /** Removes everything. */
  close: () => Promise<void>;
}

interface VideoFile {
  path: string;
  /** The copy is removed when nobody needed it for a while. */
  release: () => void;
}

export interface VideoFilesOptions {
  objects: Pick<ObjectStore, 'stat' | 'getToFile'>;
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

/** The copies live in a directory of this process; those of processes that are gone are removed first. */
export async function createVideoFiles(options: VideoFilesOptions): Promise<VideoFiles> {
  const { directory, keepMs } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await removeOrphans(directory);
  const own = await mkdtemp(join(directory, `${process.pid}-`));
  const copies = new Map<string, Copy>();

  const drop = (key: string, copy: Copy) => {
    if (copies.get(key) === copy) copies.delete(key);
    clearTimeout(copy.timer);
    copy.given.abort();
    void copy.ready.catch(() => undefined).finally(() => rm(copy.path, { force: true }));
  };
  const begin = (key: string): Copy => {
    const path = join(own, `${randomUUID()}.video`);
    const given = new AbortController();
    const copy: Copy = { path, given, ready: download(options, { key, path, signal: given.signal }), users: 0 };
    copy.ready.catch(() => drop(key, copy));
    copies.set(key, copy);
    return copy;
  };

  return {
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
        await unlessAborted(copy.ready, signal);
      } catch (error) {
        release();
        throw error;
      }
      return { path: copy.path, release };
    },
    close: async () => {
      copies.forEach((copy, key) => drop(key, copy));
      await rm(own, { recursive: true, force: true });
    },
  };
}

async function download(
  { objects, maxBytes }: VideoFilesOptions,
  { key, path, signal }: { key: string; path: string; signal: AbortSignal },
): Promise<void> {
  const found = await objects.stat(key);
  if (!found) throw new SourceError('not_found');
  if (found.bytes > maxBytes) throw new SourceError('unreadable');
  try {
    await objects.getToFile(key, path, signal);
  } catch (error) {
    throw asAppError(error)?.kind === 'not_found' ? new SourceError('not_found') : error;
  }
}

/** The result of `work`, or the signal's reason if that comes first; `work` goes on. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = deferred<undefined>();
  const onAbort = () => aborted.resolve(undefined);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted.promise.then(() => Promise.reject(signal.reason as Error))]);
  } finally {
    signal.removeEventListener('abort', onAbort);
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
