import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessAborted } from '@vision/shared/async/unless-aborted';
import { asAppError, fail } from '@vision/contracts/errors';
import type { ObjectStore } from '@vision/objects/object-store';
import { isOutOfSpace } from '@vision/objects/out-of-space';
import { fileSlotsOf } from '../domain/room.ts';
import { SourceError } from '@vision/streams/source-error';
import { createWorkSpace } from './work-space.ts';
import type { SpaceUsage, WorkSpace } from './work-space.ts';

/** Local copies of uploaded videos: ffmpeg has to seek in them, because their index may be at the end. */
export interface VideoFiles {
  /**
   * Creates a directory for the copies of this process and first removes those of processes that have ended. Derives
   * the number of slots from the free space.
   */
  start: () => Promise<void>;
  /**
   * A copy of the object; concurrent users of one object share it. Aborting a wait leaves the download to the other
   * users.
   * @throws SourceError `not_found`, `unreadable` when it is larger than allowed; AppError when the store is
   * unavailable, or `no_local_space` when there is no space for it here. A failed copy is removed.
   */
  open: (key: string, signal: AbortSignal) => Promise<VideoFile>;
  /** Videos that can be processed concurrently: at least one, but none for a while after `rest`. */
  slots: () => number;
  /** Claims no videos for a while, so that a worker with more space or processes takes them. */
  rest: () => void;
  usage: () => SpaceUsage;
  /** Updates `usage`. */
  measure: () => Promise<void>;
  /** Removes everything. */
  stop: () => Promise<void>;
}

interface VideoFile {
  path: string;
  /** The copy is removed after a while without users. */
  release: () => void;
}

export interface VideoFilesOptions {
  store: Pick<ObjectStore, 'stat' | 'getToFile'>;
  /** Directory for the copies of all workers of this machine. */
  directory: string;
  maxBytes: number;
  /** Most bytes of all copies; 0 for as many as the file system has. */
  maxTotalBytes: number;
  /** Time after `rest` during which there are no slots. */
  restMs: number;
  /** How long a copy outlives its last user: submitting a job inspects a file that its worker opens soon after. */
  keepMs: number;
}

interface Copy {
  path: string;
  ready: Promise<void>;
  /** A download in progress is not dropped to free space: it may wait for space itself. */
  isReady: boolean;
  /** Ends the download when its last user has left. */
  given: AbortController;
  users: number;
  timer?: NodeJS.Timeout | undefined;
  /** Settles when the file is removed; undefined before its removal begins. */
  removed?: Promise<void>;
}

export function createVideoFiles(options: VideoFilesOptions): VideoFiles {
  const { directory, maxBytes, restMs } = options;
  const own = join(directory, `${process.pid}-${randomUUID().slice(0, 8)}`);
  const space = createWorkSpace(directory, options.maxTotalBytes);
  const copies = createCopies(options, own, space);
  let slots = 1;
  let restsUntil = 0;
  return {
    start: async () => {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await removeOrphans(directory);
      await space.measure();
      slots = fileSlotsOf(space.usage().limitBytes, maxBytes);
    },
    open: copies.open,
    slots: () => (performance.now() < restsUntil ? 0 : slots),
    rest: () => {
      restsUntil = performance.now() + restMs;
    },
    usage: space.usage,
    measure: space.measure,
    stop: async () => {
      await copies.dropAll();
      await rm(own, { recursive: true, force: true });
    },
  };
}

function createCopies(options: VideoFilesOptions, own: string, space: WorkSpace) {
  const { keepMs } = options;
  const copies = new Map<string, Copy>();

  const drop = (key: string, copy: Copy): Promise<void> => {
    if (copies.get(key) === copy) copies.delete(key);
    clearTimeout(copy.timer);
    copy.given.abort();
    copy.removed ??= removeCopy(copy, space);
    return copy.removed;
  };
  const dropUnused = () =>
    Promise.all([...copies].filter(([, copy]) => copy.isReady && copy.users === 0).map((kept) => drop(...kept)));
  const begin = (key: string): Copy => {
    const path = join(own, `${randomUUID()}.video`);
    const given = new AbortController();
    const wanted = { key, path, signal: given.signal };
    const reserve = (bytes: number) =>
      space.reserve(path, bytes).catch(async () => {
        // Copies that are only cached for a later user are dropped first.
        await dropUnused();
        await space.reserve(path, bytes);
      });
    const copy: Copy = {
      path,
      given,
      ready: download(options, wanted, { directory: own, reserve }),
      isReady: false,
      users: 0,
    };
    copy.ready.then(
      () => (copy.isReady = true),
      () => drop(key, copy),
    );
    copies.set(key, copy);
    return copy;
  };

  return {
    dropAll: () => Promise.all([...copies].map(([key, copy]) => drop(key, copy))),
    open: async (key: string, signal: AbortSignal): Promise<VideoFile> => {
      const copy = copies.get(key) ?? begin(key);
      clearTimeout(copy.timer);
      copy.users += 1;
      let isReleased = false;
      const release = () => {
        if (isReleased) return;
        isReleased = true;
        copy.users -= 1;
        if (copy.users === 0) copy.timer = setTimeout(() => void drop(key, copy), keepMs).unref();
      };
      try {
        await unlessAborted(signal, copy.ready);
      } catch (error) {
        release();
        throw error;
      }
      return { path: copy.path, release };
    },
  };
}

async function removeCopy({ path, ready }: Copy, space: WorkSpace): Promise<void> {
  // A failed download is reported to the callers that wait for the copy; here only the file is removed.
  await ready.catch(() => undefined);
  await rm(path, { force: true });
  space.free(path);
}

async function download(
  { store, maxBytes }: VideoFilesOptions,
  { key, path, signal }: { key: string; path: string; signal: AbortSignal },
  room: { directory: string; reserve: (bytes: number) => Promise<void> },
): Promise<void> {
  const found = await store.stat(key);
  if (!found) throw new SourceError('not_found');
  if (found.bytes > maxBytes) throw new SourceError('unreadable');
  try {
    // Not only at start: a full disk may have prevented it, and cleanup jobs of the machine remove old directories.
    await mkdir(room.directory, { recursive: true, mode: 0o700 });
    await room.reserve(found.bytes);
    await store.getToFile({ key, path, bytes: found.bytes, signal });
  } catch (error) {
    if (isOutOfSpace(error)) throw fail.sysUnavailable('no_local_space', error);
    throw asAppError(error)?.kind === 'not_found' ? new SourceError('not_found') : error;
  }
}

async function removeOrphans(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const pid = Number(/^(\d+)-/.exec(name)?.[1]);
    // In a container every start of the program may have the same process id.
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
