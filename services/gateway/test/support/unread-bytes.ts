import { readFile } from 'node:fs/promises';

/** Bytes that the kernel holds for clients of a port, those of connections that nobody has any more included. */
export async function unreadBytes(url: string): Promise<number> {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0');
  const lines = (await readFile('/proc/self/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
  const ofPort = lines.filter(([, local]) => local?.endsWith(`:${port}`));
  return ofPort.reduce((sum, [, , , , queues = '']) => sum + parseInt(queues, 16), 0);
}
