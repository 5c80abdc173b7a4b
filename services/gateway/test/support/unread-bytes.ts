import { readFile } from 'node:fs/promises';

/** Bytes that wait in the kernel for the clients of a port, including those of closed connections. */
export async function unreadBytes(url: string): Promise<number> {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0');
  const lines = (await readFile('/proc/self/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
  const ofPort = lines.filter(([, local]) => local?.endsWith(`:${port}`));
  return ofPort.reduce((sum, [, , , , queues = '']) => sum + parseInt(queues, 16), 0);
}
