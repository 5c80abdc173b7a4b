import { Agent } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '@vision/shared/http/caller';
import { IDLE_CONNECTION_MS } from '@vision/shared/http/idle-connection';
import type { TokenSigner } from '@vision/shared/http/service-token';
import { ForwardedRequest } from './forwarded-request.ts';
import type { Cut, ForwardLimits } from './forwarded-request.ts';
import type { Owner } from '@vision/contracts/public-operations';

/** Where a request goes on, and for whom. */
interface ForwardTarget {
  operation: string;
  owner: Owner;
  /** Path and query. */
  path: string;
  caller: Caller;
  /**
   * The service goes on when the client has left, and what its work cost is read from its answer: an answer to a whole
   * body is waited for then.
   */
  isAnswerAwaited?: boolean;
  /** The answer goes on for minutes, and ends with this signal: it has no deadline. */
  ending?: AbortSignal | undefined;
  /** Why we cut the connection of the client; undefined when it left by itself. */
  cut?: () => Cut | undefined;
  /** Receives the headers before the answer is passed on. When it ends, the request no longer counts as in progress. */
  onAnswer?: (headers: IncomingHttpHeaders) => void;
}

/** The headers of the answer; none when the client left before it. */
export type Forward = (
  req: IncomingMessage,
  res: ServerResponse,
  target: ForwardTarget,
) => Promise<IncomingHttpHeaders>;

export interface ForwardOptions extends ForwardLimits {
  urls: Record<Owner, string>;
  /** Signs the tokens of the next hop. */
  signer: TokenSigner;
}

export interface Forwarder {
  forward: Forward;
  stop: () => void;
}

/**
 * Passes requests on as streams, each with a token of our own: bodies are never collected, an answer reaches the client
 * while it still uploads, and when one side leaves, the other is ended too.
 */
export function createForwarder({ urls, signer, ...limits }: ForwardOptions): Forwarder {
  // The time counts for connections that are free; how long an answer may take is decided elsewhere.
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 64, timeout: IDLE_CONNECTION_MS });
  return {
    forward: async (
      req,
      res,
      {
        owner,
        path,
        caller,
        isAnswerAwaited = false,
        ending,
        cut = () => undefined,
        onAnswer = () => undefined,
        ...more
      },
    ) => {
      const token = await signer.sign(owner, caller);
      const target = { ...more, owner, url: urls[owner] + path, token, isAnswerAwaited, ending, cut, onAnswer };
      return new ForwardedRequest(req, res, { target, limits, agent }).run();
    },
    stop: () => agent.destroy(),
  };
}
