import type { IncomingHttpHeaders } from 'node:http';
import type { Response } from 'express';
import type { AppError } from '../errors.ts';

/**
 * Header of a refusal between services: `<code> <reason>`, `-` for no code. The problem document says the same, but the
 * gateway passes it on without reading it.
 */
export const refusalHeader = 'x-refusal';

/** Why a request was refused, in words of the code. */
export interface Refusal {
  code: string | undefined;
  reason: string | undefined;
}

const LOCAL = 'refusal';

/** Remembers with what a request was refused, for whoever counts requests. */
export function tellRefusal(res: Response, { code, reason }: Pick<AppError, 'code' | 'reason'>): void {
  res.locals[LOCAL] = { code, reason } satisfies Refusal;
}

/** The same of an answer that another service gave. What is not written like words of the code is left out. */
export function tellRefusalOf(res: Response, headers: IncomingHttpHeaders): void {
  const [, code, reason] =
    /^(-|OP-[A-Z]+(?:-[A-Z]+)*) ([a-z][a-z0-9_]{0,63})$/.exec(String(headers[refusalHeader])) ?? [];
  if (reason !== undefined) res.locals[LOCAL] = { code: code === '-' ? undefined : code, reason } satisfies Refusal;
}

/** What was remembered. */
export function refusalTold(res: Response): Refusal {
  return (res.locals[LOCAL] as Refusal | undefined) ?? { code: undefined, reason: undefined };
}

/** The value of the header. */
export const refusalText = ({ code, reason }: Pick<AppError, 'code' | 'reason'>) => `${code ?? '-'} ${reason}`;
