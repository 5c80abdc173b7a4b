import { readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';

/** Bytes that the kernel holds for the client of a socket, by the inode of the socket; 0 where none is listed. */
export type SendQueues = ReadonlyMap<number, number>;

/** Address families; a kernel without IPv6 has no second file. */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
/** `sl local remote st tx_queue:rx_queue tr:when retrnsmt uid timeout inode`; most queues are empty. */
const QUEUED = /^ *\d+: \S+ \S+ \S+ (?!0{8}:)([\dA-F]{8}):\S+ \S+ \S+ +\d+ +\d+ (\d+) /gm;

/**
 * Reads the unacknowledged bytes of the connections of this machine. Node.js has no call for it. Where the tables
 * cannot be read, the result is empty.
 */
export async function readSendQueues(): Promise<SendQueues> {
  const tables = await Promise.all(TABLES.map((table) => readFile(table, 'latin1').catch(() => '')));
  return parseSendQueues(tables.join(''));
}

/** The same, for a part of the tables. */
export function parseSendQueues(tables: string): SendQueues {
  const queues = new Map<number, number>();
  for (const [, queued = '', inode = ''] of tables.matchAll(QUEUED)) queues.set(Number(inode), parseInt(queued, 16));
  return queues;
}

/** The inode of a socket in the tables; undefined where the system has none. */
export function inodeOf(socket: Socket): number | undefined {
  const { _handle: handle } = socket as { _handle?: { fd?: number } | null };
  try {
    const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${handle?.fd}`))?.[1];
    return inode === undefined ? undefined : Number(inode);
  } catch {
    return undefined;
  }
}
