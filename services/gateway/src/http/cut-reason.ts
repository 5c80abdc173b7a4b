import type { ServerResponse } from 'node:http';
import type { CutReason } from './connection.ts';

export interface Cut {
  reason: CutReason;
  /** The exceeded limit in milliseconds; undefined for a limit that is not a time. */
  limitMs: number | undefined;
}

type WithLocals = ServerResponse & { locals?: Record<string, unknown> };

/** Records why the connection of a response was cut; the close handler reports it as the request's outcome. */
export function noteCut(res: WithLocals | undefined, cut: Cut): void {
  if (!res?.locals) return;
  res.locals['cut'] = cut;
  res.locals['outcome'] ??= { reason: cut.reason };
}

/** Why the gateway cut the connection; undefined when the client closed it. */
export const cutOf = (res: WithLocals): Cut | undefined => res.locals?.['cut'] as Cut | undefined;
