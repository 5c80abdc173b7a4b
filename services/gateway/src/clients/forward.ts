import { Agent } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '@vision/shared/http/caller';
import { IDLE_CONNECTION_MS } from '@vision/shared/http/idle-connection';
import type { TokenSigner } from '@vision/shared/http/service-token';
import { ForwardedRequest } from './forwarded-request.ts';
import type { Cut, ForwardLimits } from './forwarded-request.ts';
import type { Owner } from '@vision/contracts/public-operations';

/** Destination and caller of a forwarded request. */
interface ForwardTarget {
  operation: string;
  owner: Owner;
  /** Path and query. */
  path: string;
  caller: Caller;
  /**
   * The service continues after the client has disconnected, and its response contains the cost of the work: the
   * response to a complete body is awaited then.
   */
  isAnswerAwaited?: boolean;
  /** A response that lasts for minutes and ends with this signal has no deadline. */
  ending?: AbortSignal | undefined;
  /** Why the gateway cut the connection of the client; undefined when the client closed it. */
  cut?: () => Cut | undefined;
  /**
   * Receives the headers before the response is forwarded. When it ends, the request no longer counts as in progress.
   */
  onAnswer?: (headers: IncomingHttpHeaders) => void;
}

/** The headers of the response; none when the client disconnected before it. */
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
 * Forwards requests as streams, each with a token of the gateway: bodies are never buffered entirely, a response
 * reaches the client while it still uploads, and when one side disconnects, the other is ended too.
 */
export function createForwarder({ urls, signer, ...limits }: ForwardOptions): Forwarder {
  // The timeout applies to idle connections; the time for a response is limited elsewhere.
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
