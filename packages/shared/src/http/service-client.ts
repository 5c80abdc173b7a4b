import type { z } from 'zod';
import { AppError, fail } from '../errors.ts';
import type { ErrorCode, ErrorKind } from '../errors.ts';
import { problem } from '../contracts/problem.ts';
import { bodyAs, call, CallError } from './call.ts';
import type { CallReply, CallRequest } from './call.ts';
import { statusOfKind } from './problem.ts';
import { mintServiceToken } from './service-token.ts';

export interface ServiceClientOptions {
  baseUrl: string;
  /** Name of this service. */
  issuer: string;
  /** Name of the service called. */
  audience: string;
  tokenKey: string;
  timeoutMs: number;
}

export type ServiceCall = Pick<CallRequest, 'method' | 'json' | 'signal'> & { path: string; subject: string };

export interface ServiceClient {
  /** Calls and parses the reply; any failure is thrown as an AppError. */
  call: <T>(schema: z.ZodType<T>, request: ServiceCall) => Promise<T>;
}

/**
 * Typed calls to another service of ours, each with a fresh token for the subject it acts for. Problems of the other
 * service come back as the same AppError; no answer, or one that is not in the contract, is OP-SYS-UNAVAILABLE.
 */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  return {
    async call(schema, { path, subject, ...request }) {
      const token = await mintServiceToken(
        { subject, issuer: options.issuer },
        { key: options.tokenKey, audience: options.audience },
      );
      const reply = await send(
        {
          ...request,
          url: options.baseUrl + path,
          headers: { authorization: `Bearer ${token}` },
          timeoutMs: options.timeoutMs,
        },
        options.audience,
      );
      const body = reply.status < 300 ? bodyAs(schema, reply) : undefined;
      if (body === undefined) throw asAppErrorOf(reply, options.audience);
      return body;
    },
  };
}

async function send(request: CallRequest, audience: string): Promise<CallReply> {
  try {
    return await call(request);
  } catch (error) {
    if (error instanceof CallError) throw fail.sysUnavailable(`${audience}_unavailable`, error);
    throw error;
  }
}

function asAppErrorOf(reply: CallReply, audience: string): AppError {
  const said = bodyAs(problem, reply);
  const kind = (Object.keys(statusOfKind) as ErrorKind[]).find((name) => statusOfKind[name] === reply.status);
  // A refused service token is our own wiring, never the caller's fault.
  if (!said || !kind || kind === 'internal' || kind === 'unauthenticated') {
    return fail.sysUnavailable(`${audience}_unavailable`, new Error(`unexpected answer ${reply.status}`));
  }
  const { reason, ...details } = said.details;
  return new AppError(kind, said.detail, {
    code: said.code as ErrorCode | undefined,
    reason: String(reason),
    details,
    retryAfterS: Number(reply.headers['retry-after']) || undefined,
  });
}
