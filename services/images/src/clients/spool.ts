import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rm, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { fail } from '@vision/contracts/errors';

/**
 * A small upload stays in memory while the limit allows it. Any other upload is a file without a name: it is unlinked
 * as soon as it is open, so the system frees it when the process ends.
 */
interface SpoolFile {
  append: (chunk: Buffer) => Promise<void>;
  /** A new stream of the content from its beginning; several may be read at the same time. */
  read: () => Readable;
}

/** The files of one request. */
export interface SpoolSession {
  create: () => SpoolFile;
  /** Releases every file and all memory. No more data may be appended. */
  close: () => Promise<void>;
}

/** Holds uploads until they are complete: in memory up to a limit, beyond it on disk. */
export interface Spool {
  /** Creates the folder of this process and removes the folders of dead processes. */
  prepare: () => Promise<void>;
  openSession: () => SpoolSession;
  /** Bytes that all sessions hold now, in memory and on disk. */
  bytes: () => number;
  remove: () => Promise<void>;
}

/** Memory limits in bytes: of one file, and of all uploads of the process together. */
export interface SpoolMemory {
  perFileBytes: number;
  totalBytes: number;
}

/** Most images fit; ten of the largest in each of many calls would not. */
export const SPOOL_MEMORY: SpoolMemory = { perFileBytes: 1024 * 1024, totalBytes: 16 * 1024 * 1024 };

export function createSpool(parent: string, memory: SpoolMemory): Spool {
  const room: Room = { perFileBytes: memory.perFileBytes, freeBytes: memory.totalBytes, keptBytes: 0 };
  const folder = join(parent, `${PREFIX}${process.pid}-${randomUUID().slice(0, 8)}`);
  return {
    prepare: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await removeDead(parent);
    },
    openSession: () => openSession(folder, room),
    bytes: () => room.keptBytes,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

const PREFIX = 'vision-images-';

async function removeDead(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-[0-9a-f]{8}$`).exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    // The folder of another user cannot be removed and is left alone.
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

interface Room {
  perFileBytes: number;
  freeBytes: number;
  /** Bytes in memory and on disk. */
  keptBytes: number;
}

function openSession(folder: string, room: Room): SpoolSession {
  const handles: Promise<FileHandle>[] = [];
  let held = 0;
  let kept = 0;
  const take = (bytes: number): boolean => {
    if (room.freeBytes < bytes) return false;
    room.freeBytes -= bytes;
    held += bytes;
    return true;
  };
  const giveBack = (bytes: number): void => {
    room.freeBytes += bytes;
    held -= bytes;
  };
  return {
    create: () => {
      let chunks: Buffer[] = [];
      let bytes = 0;
      let handle: FileHandle | undefined;
      const moveToDisk = async (): Promise<FileHandle> => {
        const opening = openUnnamed(join(folder, randomUUID()));
        handles.push(opening);
        const opened = await opening;
        for (const chunk of chunks) await opened.writeFile(chunk);
        giveBack(bytes);
        chunks = [];
        return opened;
      };
      return {
        append: async (chunk) => {
          if (!handle && bytes + chunk.length <= room.perFileBytes && take(chunk.length)) chunks.push(chunk);
          else await (handle ??= await moveToDisk().catch(unavailable)).writeFile(chunk).catch(unavailable);
          bytes += chunk.length;
          kept += chunk.length;
          room.keptBytes += chunk.length;
        },
        read: () => Readable.from(handle ? contentOf(handle, bytes) : chunks, { objectMode: false }),
      };
    },
    close: async () => {
      giveBack(held);
      room.keptBytes -= kept;
      kept = 0;
      await Promise.allSettled(handles.splice(0).map(async (opening) => (await opening).close()));
    },
  };
}

async function openUnnamed(path: string): Promise<FileHandle> {
  const handle = await open(path, 'wx+', 0o600).catch(async (error: unknown) => {
    // A cleanup job for temporary folders has removed the folder of this process.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return open(path, 'wx+', 0o600);
  });
  try {
    await unlink(path);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const CHUNK_BYTES = 128 * 1024;

async function* contentOf(handle: FileHandle, bytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes;) {
    const length = Math.min(CHUNK_BYTES, bytes - at);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(length), 0, length, at).catch(unavailable);
    if (bytesRead === 0) unavailable(new Error('the spool file is shorter than what was written'));
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

function unavailable(error: unknown): never {
  throw fail.sysUnavailable('spool_unavailable', error);
}
