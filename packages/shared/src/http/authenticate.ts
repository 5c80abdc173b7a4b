import type { RequestHandler } from 'express';
import { timingSafeEqual, createHash } from 'node:crypto';
import { fail } from '../errors.ts';
import { verifyServiceToken } from './service-token.ts';

/** Accepts only calls with a service token for this audience; puts the caller into `res.locals.caller`. */
export function requireServiceToken(key: string, audience: string): RequestHandler {
  return async (req, res, next) => {
    const token = bearerToken(req.rawHeaders);
    if (token === undefined) throw fail.authRequired('service_token_missing');
    res.locals['caller'] = await verifyServiceToken(token, { key, audience });
    next();
  };
}

/** Accepts only calls with this static bearer token (inference backend). */
export function requireStaticToken(expected: string): RequestHandler {
  const isRight = staticTokenCheck(expected);
  return (req, _res, next) => {
    if (!isRight(req.rawHeaders)) throw fail.authRequired('token_invalid');
    next();
  };
}

/** Whether headers carry this bearer token, compared in constant time. */
export function staticTokenCheck(expected: string): (rawHeaders: string[]) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const wanted = digest(expected);
  return (rawHeaders) => {
    const token = bearerToken(rawHeaders);
    return token !== undefined && timingSafeEqual(digest(token), wanted);
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
