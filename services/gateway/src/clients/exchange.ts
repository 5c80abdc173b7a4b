import type { Agent, IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { fail } from '@vision/shared/errors';
import type { AppError } from '@vision/shared/errors';
import { drain } from '@vision/shared/http/drain';
import { responseHeaders } from './forward-headers.ts';
import type { Owner } from './owners.ts';
import { UpstreamRequest } from './upstream-request.ts';

/** A service as one request reaches it. */
interface Upstream {
  owner: Owner;
  url: string;
  token: string;
  isAnswerAwaited: boolean;
}

export interface ForwardLimits {
  connectTimeoutMs: number;
  /** Longest time in which neither side moves a byte. */
  idleMs: number;
  /** The same for reads, which work on nothing that takes long. */
  readIdleMs: number;
}

interface ExchangeOptions {
  target: Upstream;
  limits: ForwardLimits;
  agent: Agent;
}

/** One request and its answer. Owns the upstream request and the timers, which end with it. */
export class Exchange {
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #target: Upstream;
  readonly #idleMs: number;
  readonly #upstream: UpstreamRequest;
  #settle: (failure?: AppError) => void = () => undefined;
  #watchdog: NodeJS.Timeout | undefined;
  #hasAnswer = false;
  #hasClientLeft = false;
  #answerHeaders: IncomingHttpHeaders = {};
  #isOver = false;

  constructor(req: IncomingMessage, res: ServerResponse, { target, limits, agent }: ExchangeOptions) {
    this.#req = req;
    this.#res = res;
    this.#target = target;
    const isRead = req.method === 'GET' || req.method === 'HEAD';
    this.#idleMs = isRead ? limits.readIdleMs : limits.idleMs;
    const { url, token } = target;
    this.#upstream = new UpstreamRequest(
      req,
      { url, token, agent, connectTimeoutMs: limits.connectTimeoutMs },
      {
        answered: (answer) => this.#onAnswer(answer),
        failed: (reason, cause) => this.#fail(reason, cause),
        progressed: this.#onProgress,
      },
    );
  }

  /**
   * Resolves when the answer was passed on or the client left; rejects with what to answer when the service gave none.
   */
  async run(): Promise<IncomingHttpHeaders> {
    if (this.#res.closed) return {};
    this.#watchdog = setTimeout(() => this.#fail('timeout'), this.#idleMs);
    this.#res.once('close', this.#onClientClosed);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#settle = (failure) => (failure ? reject(failure) : resolve());
        this.#upstream.send();
      });
      return this.#answerHeaders;
    } finally {
      clearTimeout(this.#watchdog);
      this.#res.off('close', this.#onClientClosed);
    }
  }

  #onAnswer(answer: IncomingMessage): void {
    if (this.#isOver) return;
    // The service refused our own token, which the client cannot mend: no service answers a client with these.
    if (answer.statusCode === 401 || answer.statusCode === 403) {
      this.#fail('token_refused');
      return;
    }
    this.#hasAnswer = true;
    this.#answerHeaders = answer.headers;
    if (this.#hasClientLeft) {
      answer.resume();
      this.#isOver = true;
      this.#settle();
      return;
    }
    this.#passOn(answer);
  }

  #passOn(answer: IncomingMessage): void {
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
    this.#upstream.leave();
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
    this.#upstream.leave();
    this.#settle(fail.sysUnavailable(`${this.#target.owner}_unavailable`, cause ?? new Error(reason)));
  }

  readonly #onProgress = () => {
    this.#watchdog?.refresh();
  };

  readonly #onClientClosed = () => {
    if (this.#isOver) return;
    if (this.#target.isAnswerAwaited && this.#upstream.isSent && !this.#hasAnswer) {
      this.#hasClientLeft = true;
      return;
    }
    this.#isOver = true;
    this.#upstream.leave();
    this.#settle();
  };
}
