import { readFile } from 'node:fs/promises';
import { FaultError, codesOf, wrong } from '@vision/shared/start/fault';

/**
 * The token of the pod, as the cluster has written it last.
 * @param setting that names the file
 * @throws FaultError
 */
export async function readPodToken(setting: string, file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw new FaultError(wrong(`${setting}: ${file} cannot be read (${codesOf(error)[0] ?? 'error'})`));
  }
}
