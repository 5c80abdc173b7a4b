import type { ServerResponse } from 'node:http';
import type { CutReason } from './connection.ts';

export interface Cut {
  reason: CutReason;
  /** The limit that the client passed, in milliseconds; undefined where it is none of time. */
  limitMs: number | undefined;
}

type WithLocals = ServerResponse & { locals?: Record<string, unknown> };

/** Notes why the connection of an answer was cut; the close handler reports it as the request's outcome. */
export function noteCut(res: WithLocals | undefined, cut: Cut): void {
  if (!res?.locals) return;
  res.locals['cut'] = cut;
  res.locals['outcome'] ??= { reason: cut.reason };
}

/** Why the connection was cut by us; undefined when the client left by itself. */
export const cutOf = (res: WithLocals): Cut | undefined => res.locals?.['cut'] as Cut | undefined;
