import type { ServerResponse } from 'node:http';
import type { CutReason } from './connection.ts';

type WithLocals = ServerResponse & { locals?: Record<string, unknown> };

/** Remembers why the connection of an answer was cut, for whoever sees it close. */
export function noteCut(res: WithLocals | undefined, reason: CutReason): void {
  if (res?.locals) res.locals['cutReason'] = reason;
}

/** Why the connection was cut by us; undefined when the client left by itself. */
export const cutReasonOf = (res: WithLocals): string | undefined => res.locals?.['cutReason'] as string | undefined;
