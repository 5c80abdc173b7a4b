import http, { Agent } from 'node:http';
import type {
  ClientRequest,
  IncomingHttpHeaders,
  IncomingMessage,
  OutgoingHttpHeaders,
  ServerResponse,
} from 'node:http';
import { fail } from '@vision/shared/errors';
import type { AppError } from '@vision/shared/errors';
import type { Caller } from '@vision/shared/http/caller';
import { drain } from '@vision/shared/http/drain';
import type { TokenSigner } from '@vision/shared/http/service-token';
import { requestHeaders, responseHeaders } from './forward-headers.ts';
import type { Owner } from './owners.ts';

/** Where a request goes on, and for whom. */
interface ForwardTarget {
  owner: Owner;
  /** Path and query. */
  path: string;
  caller: Caller;
  /**
   * The service goes on when the client has left, and what its work cost is read from its answer: an answer to a whole
   * body is waited for then.
   */
  isAnswerAwaited?: boolean;
}

interface Upstream {
  owner: Owner;
  url: string;
  token: string;
  isAnswerAwaited: boolean;
}

interface ForwardLimits {
  connectTimeoutMs: number;
  /** Longest time in which neither side moves a byte. */
  idleMs: number;
  /** The same for reads, which work on nothing that takes long. */
  readIdleMs: number;
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
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 64 });
  return {
    forward: async (req, res, { owner, path, caller, isAnswerAwaited = false }) => {
      const token = await signer.sign(owner, caller);
      const target = { owner, url: urls[owner] + path, token, isAnswerAwaited };
      return new Exchange(req, res, { target, limits, agent }).run();
    },
    stop: () => agent.destroy(),
  };
}

interface ExchangeOptions {
  target: Upstream;
  limits: ForwardLimits;
  agent: Agent;
}

/** One request and its answer. Owns the upstream request and the timers, which end with it. */
class Exchange {
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #options: ExchangeOptions;
  #settle: (failure?: AppError) => void = () => undefined;
  #upstream: ClientRequest | undefined;
  #watchdog: NodeJS.Timeout | undefined;
  #hasAnswer = false;
  #hasClientLeft = false;
  #answerHeaders: IncomingHttpHeaders = {};
  #isOver = false;

  constructor(req: IncomingMessage, res: ServerResponse, options: ExchangeOptions) {
    this.#req = req;
    this.#res = res;
    this.#options = options;
  }

  /**
   * Resolves when the answer was passed on or the client left; rejects with what to answer when the service gave none.
   */
  async run(): Promise<IncomingHttpHeaders> {
    if (this.#res.closed) return {};
    const { limits } = this.#options;
    const isRead = this.#req.method === 'GET' || this.#req.method === 'HEAD';
    this.#watchdog = setTimeout(() => this.#fail('timeout'), isRead ? limits.readIdleMs : limits.idleMs);
    this.#res.once('close', this.#onClientClosed);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#settle = (failure) => (failure ? reject(failure) : resolve());
        this.#send(true);
      });
      return this.#answerHeaders;
    } finally {
      clearTimeout(this.#watchdog);
      this.#res.off('close', this.#onClientClosed);
    }
  }

  #send(mayRepeat: boolean): void {
    const { target, agent } = this.#options;
    const hasBody = this.#hasBody();
    const upstream = http.request(target.url, { method: this.#req.method, agent, headers: this.#headers(hasBody) });
    this.#upstream = upstream;
    this.#watchConnect(upstream);
    upstream.once('response', (answer) => this.#onAnswer(answer));
    upstream.on('error', (error) => {
      if (upstream !== this.#upstream) return;
      // An idle connection may be closed by the service just as it is used; without a body the request can go again.
      const wasStale = upstream.reusedSocket && isReset(error);
      if (mayRepeat && wasStale && !hasBody && !this.#hasAnswer && !this.#isOver) this.#send(false);
      else this.#fail('connection_lost', error);
    });
    if (!hasBody) {
      upstream.end();
      return;
    }
    // The head is sent at once, so that the service can refuse it before the first byte of the body.
    upstream.flushHeaders();
    // A client that waits for `100 Continue` gets it when the service sends it; our listener then begins to
    // read the body.
    if (this.#req.headers.expect === undefined) this.#pipe(upstream);
    else upstream.once('continue', () => this.#pipe(upstream));
  }

  #pipe(upstream: ClientRequest): void {
    if (this.#isOver) return;
    this.#req.on('data', this.#onProgress);
    this.#req.pipe(upstream);
  }

  #hasBody(): boolean {
    const { method, headers } = this.#req;
    // A body on GET or HEAD has no meaning and would reach the next hop without framing.
    if (method === 'GET' || method === 'HEAD') return false;
    return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  }

  #headers(hasBody: boolean): OutgoingHttpHeaders {
    const headers = requestHeaders(this.#req.rawHeaders);
    if (!hasBody) delete headers['content-length'];
    else if (this.#req.headers.expect !== undefined) headers['expect'] = '100-continue';
    const requestId = this.#req.headers['x-request-id'];
    return { ...headers, 'x-request-id': requestId, authorization: `Bearer ${this.#options.target.token}` };
  }

  #watchConnect(upstream: ClientRequest): void {
    upstream.once('socket', (socket) => {
      if (!socket.connecting) return;
      const timer = setTimeout(() => this.#fail('connect_timeout'), this.#options.limits.connectTimeoutMs);
      const clear = () => clearTimeout(timer);
      socket.once('connect', clear).once('close', clear);
    });
  }

  #onAnswer(answer: IncomingMessage): void {
    if (this.#isOver) return;
    this.#hasAnswer = true;
    // The service refused our own token, which the client cannot mend: no service answers a client with these.
    if (answer.statusCode === 401 || answer.statusCode === 403) {
      this.#hasAnswer = false;
      this.#fail('token_refused');
      return;
    }
    this.#answerHeaders = answer.headers;
    if (this.#hasClientLeft) {
      answer.resume();
      this.#isOver = true;
      this.#settle();
      return;
    }
    const res = this.#res;
    res.statusCode = answer.statusCode ?? 502;
    for (const [name, value] of Object.entries(responseHeaders(answer.rawHeaders))) {
      if (value !== undefined) res.setHeader(name, value);
    }
    // A client that still uploads must not reuse the connection: the rest of its body is read and dropped below.
    if (!this.#req.complete) res.setHeader('Connection', 'close');
    res.flushHeaders();
    answer.on('data', this.#onProgress);
    answer.once('end', () => this.#finish());
    answer.once('close', () => {
      if (!answer.complete) this.#cut();
    });
    answer.pipe(res, { end: false });
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const end = () => {
      this.#res.end();
      this.#settle();
    };
    if (this.#req.complete) {
      end();
      return;
    }
    this.#leaveUpload();
    drain(this.#req, end);
  }

  /** The answer broke off: the client must not take a part of it for all of it. */
  #cut(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#res.destroy();
    this.#settle();
  }

  #fail(reason: string, cause?: unknown): void {
    if (this.#isOver) return;
    if (this.#hasAnswer) {
      // A service that answers early may close its side while the upload still runs; its answer is what counts.
      if (reason === 'timeout') this.#cut();
      return;
    }
    this.#isOver = true;
    this.#leaveUpload();
    this.#settle(unavailable(this.#options.target.owner, reason, cause));
  }

  #leaveUpload(): void {
    this.#req.off('data', this.#onProgress);
    if (this.#upstream) {
      this.#req.unpipe(this.#upstream);
      this.#upstream.destroy();
    }
  }

  readonly #onProgress = () => {
    this.#watchdog?.refresh();
  };

  readonly #onClientClosed = () => {
    if (this.#isOver) return;
    const isAtWork = this.#upstream?.writableEnded === true && !this.#hasAnswer;
    if (isAtWork && this.#options.target.isAnswerAwaited) {
      this.#hasClientLeft = true;
      return;
    }
    this.#isOver = true;
    this.#leaveUpload();
    this.#settle();
  };
}

function isReset(error: Error & { code?: unknown }): boolean {
  return error.code === 'ECONNRESET' || error.code === 'EPIPE';
}

function unavailable(name: string, reason: string, cause: unknown): AppError {
  return fail.sysUnavailable(`${name}_unavailable`, cause ?? new Error(reason));
}
