import { readFile } from 'node:fs/promises';

/**
 * Bytes that wait in the kernel for the clients of a port, including those of closed connections.
 *
 * @param from counts clients of this IPv4 address only
 */
export async function unreadBytes(url: string, from?: string): Promise<number> {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0');
  const lines = (await readFile('/proc/self/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
  // The kernel writes addresses in the byte order of the machine.
  const client = from === undefined ? '' : `${Buffer.from(from.split('.').map(Number).toReversed()).toString('hex')}:`;
  const ofPort = lines.filter(
    ([, local, remote]) => local?.endsWith(`:${port}`) && remote?.toLowerCase().startsWith(client),
  );
  return ofPort.reduce((sum, [, , , , queues = '']) => sum + parseInt(queues, 16), 0);
}
