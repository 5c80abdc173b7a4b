import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { localDir } from './processes.ts';

/**
 * Bytes of a topic in the files of the first local broker, all partitions together.
 * @param topic with its prefix
 */
export function kafkaBytes(topic: string, directory = localDir): number {
  const logs = join(directory, 'data/kafka');
  const files = readdirSync(logs, { recursive: true, encoding: 'utf8' });
  const own = files.filter((file) => file.endsWith('.log') && file.includes(`${topic}-`));
  return own.reduce((total, file) => total + statSync(join(logs, file)).size, 0);
}
