import { createHash, randomBytes } from 'node:crypto';
import type { Credentials } from '@vision/streams/digest-auth';

/**
 * What has to follow the name of the application at the next try, after a refusal that asks for credentials.
 * Adobe's scheme, which Wowza speaks too, takes two refusals: the first names the scheme, the second gives what is
 * to be hashed.
 *
 * @returns undefined when the refusal asks for nothing that can be answered
 */
export function answerRefusal(description: string, { user, password }: Credentials): string | undefined {
  if (!/\bauthmod=adobe\b/.test(description)) return undefined;
  const name = encodeURIComponent(user);
  if (/code=403 need auth/.test(description)) return `?authmod=adobe&user=${name}`;
  const { salt, challenge = '', opaque = '', reason } = parametersOf(description);
  if (reason !== 'needauth' || salt === undefined) return undefined;
  const ours = randomBytes(4).toString('hex');
  const secret = hash(user + salt + password);
  const response = hash(secret + (opaque === '' ? challenge : opaque) + ours);
  return `?authmod=adobe&user=${name}&challenge=${ours}&response=${response}&opaque=${opaque}`;
}

const hash = (text: string) => createHash('md5').update(text).digest('base64');

function parametersOf(description: string): Partial<Record<string, string>> {
  const query = description.slice(description.indexOf('?') + 1);
  const pairs = [...query.matchAll(/([a-z]{1,16})=([\w.+/=-]{0,256})(?=&|\s|$)/g)];
  return Object.fromEntries(pairs.map(([, key = '', value = '']) => [key, value]));
}
