import type { Dispatcher } from 'undici';
import type { z } from 'zod';
import type { Callee } from '@vision/contracts/allowed-calls';
import type { Reason } from '@vision/contracts/reasons';
import { AppError, fail } from '@vision/contracts/errors';
import type { ErrorCode, ErrorKind } from '@vision/contracts/errors';
import { problem } from '@vision/contracts/problem';
import { pathTo } from '@vision/contracts/question';
import type { Question } from '@vision/contracts/question';
import type { Logger } from '../logger.ts';
import { bodyAs, call, CallError } from './call.ts';
import type { CallReply, CallRequest } from './call.ts';
import { statusOfKind } from './problem.ts';
import type { TokenSigner } from './service-token.ts';

export interface ServiceClientOptions {
  baseUrl: string;
  /** Name of the service called. */
  audience: Callee;
  /** Signs in the name of this service. */
  signer: TokenSigner;
  timeoutMs: number;
  logger: Logger;
  /** Makes the connections; for one address of many. */
  dispatcher?: Dispatcher | undefined;
}

/** For whom a question is asked, and the parts that it has. */
export type Asking<P, Q, B> = {
  subject: string;
  signal?: AbortSignal | undefined;
  /** Which try this is, of how many at most. */
  attempt?: { number: number; of: number } | undefined;
} & Part<'params', P> &
  Part<'query', Q> &
  Part<'body', B>;

type Part<N extends string, T> = T extends undefined ? { [K in N]?: undefined } : { [K in N]: T };

export interface ServiceClient {
  /**
   * Asks another service and parses its reply. A refusal that the question foresees is thrown as the other service said
   * it, and so is its `unavailable`.
   * @throws AppError OP-SYS-UNAVAILABLE for everything else: no answer, an answer or a refusal that is not
   * in the contract.
   */
  ask: <P, Q, B, R>(question: Question<P, Q, B, R>, asking: Asking<P, Q, B>) => Promise<R>;
}

/** Typed calls to another service of ours, each with a token for the subject it acts for. */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  return {
    async ask(question, { subject, params, query, body, signal, attempt }) {
      const { audience, signer } = options;
      const token = await signer.sign(audience, { subject });
      const method = upperCased[question.method];
      const reply = await send({
        upstream: audience,
        operation: `${method} ${question.path}`,
        attempt,
        method,
        url: options.baseUrl + pathTo(question.path, params, query),
        json: body,
        signal,
        headers: { authorization: `Bearer ${token}` },
        timeoutMs: options.timeoutMs,
        dispatcher: options.dispatcher,
      });
      const answer = reply.status < 300 ? bodyAs(question.reply, reply) : undefined;
      if (answer === undefined) throw toError(options, question, reply);
      return answer;
    },
  };
}

const upperCased = { get: 'GET', post: 'POST', put: 'PUT' } as const;

async function send(request: CallRequest & { upstream: Callee }): Promise<CallReply> {
  try {
    return await call(request);
  } catch (error) {
    if (error instanceof CallError) throw fail.sysUnavailable(`${request.upstream}_unavailable`, error);
    throw error;
  }
}

type Asked = Pick<Question<unknown, unknown, unknown, unknown>, 'method' | 'path' | 'refusals'>;

function toError(options: ServiceClientOptions, { method, path, refusals = [] }: Asked, reply: CallReply): AppError {
  const refusal = bodyAs(problem, reply);
  const kind = kindOf(reply.status);
  const isForeseen = kind === 'unavailable' || refusals.some((foreseen) => foreseen === kind);
  if (refusal && kind && isForeseen) return toAppError(kind, refusal, reply);
  const { audience, logger } = options;
  if (reply.status < 500) {
    // One of the two services has a defect. The caller of the public API cannot fix it, so the answer must not
    // blame the request.
    const facts = {
      upstream: { name: audience },
      method,
      path,
      status: reply.status,
      reason: refusal?.details['reason'],
    };
    logger.error(facts, 'unexpected response from another service');
  }
  return fail.sysUnavailable(`${audience}_unavailable`, new Error(`unexpected answer ${reply.status}`));
}

function kindOf(status: number): ErrorKind | undefined {
  return (Object.keys(statusOfKind) as ErrorKind[]).find((name) => statusOfKind[name] === status);
}

function toAppError(kind: ErrorKind, refusal: z.infer<typeof problem>, reply: CallReply): AppError {
  const { reason, ...details } = refusal.details;
  return new AppError(kind, refusal.detail, {
    code: refusal.code as ErrorCode | undefined,
    // Services of two releases talk to each other: the reason may be one that this release does not list.
    reason: String(reason) as Reason,
    details,
    retryAfterS: Number(reply.headers['retry-after']) || undefined,
  });
}
