import { timingSafeEqual, createHash } from 'node:crypto';

/** Whether headers carry one of these bearer tokens, compared in constant time. */
export function staticTokenCheck(expected: string[]): (rawHeaders: string[]) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const wanted = expected.map(digest);
  return (rawHeaders) => {
    const token = bearerToken(rawHeaders);
    if (token === undefined) return false;
    const given = digest(token);
    // Every one is compared, so the time does not tell which it was.
    return wanted.filter((one) => timingSafeEqual(given, one)).length > 0;
  };
}

/**
 * The credentials of `Authorization: Bearer …`, scheme in any case; undefined when there is none or more than one such
 * header (Node keeps just the first of several, so the raw headers are counted).
 */
export function bearerToken(rawHeaders: string[]): string | undefined {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === 'authorization') values.push(rawHeaders[index + 1] ?? '');
  }
  if (values.length !== 1) return undefined;
  return /^bearer ([\x21-\x7e]{1,4096})$/i.exec(values[0] ?? '')?.[1];
}
