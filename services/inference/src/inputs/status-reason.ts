import type { SourceReason } from '@vision/streams/source-error';

/** The failure that a status of HTTP or RTSP tells; undefined when it tells none. */
export function reasonOfStatus(status: number): SourceReason | undefined {
  if (status === 401 || status === 403) return 'auth_failed';
  if (status === 404 || status === 410) return 'not_found';
  if (status >= 300 && status < 400) return 'redirect_refused';
  return status >= 400 ? 'connection_failed' : undefined;
}
