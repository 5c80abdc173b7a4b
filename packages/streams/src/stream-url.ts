import { fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import { parseStrictUrl } from '@vision/shared/net/strict-url';
import type { StrictUrl, TextRules } from '@vision/shared/net/strict-url';
import type { Credentials } from './digest-auth.ts';

type StreamScheme = 'http' | 'https' | 'rtsp' | 'rtmp';

/** A stream address in validated parts. All of it is secret: user names, passwords, paths and queries can hold keys. */
export type StreamUrl = StrictUrl<StreamScheme>;

const defaultPorts: Record<StreamScheme, number> = { http: 80, https: 443, rtsp: 554, rtmp: 1935 };

/**
 * Parses a stream address by the strict grammar of all addresses that callers name.
 * @throws AppError OP-TASK-REQUEST-INVALID `stream_url_invalid`; the message never holds any part of the address.
 */
export function parseStreamUrl(text: unknown, policy: TextRules): StreamUrl {
  return parseStrictUrl(text, { defaultPorts, policy, refuse: invalid });
}

/** Undefined when the address has no credentials. */
export function credentialsOf({ user, password }: StreamUrl): Credentials | undefined {
  return user === '' && password === '' ? undefined : { user, password };
}

function invalid(what: string): AppError {
  return fail.requestInvalid('stream_url_invalid', `The stream_url ${what}.`, { field: 'stream_url' });
}
