import type { Agent, IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import { drain } from '@vision/shared/http/drain';
import { callUpstream } from '@vision/shared/upstream/call-upstream';
import type { UpstreamCall } from '@vision/shared/upstream/call-upstream';
import { createDeadline, withDeadline } from '@vision/shared/upstream/deadline';
import { UpstreamAnswerError, UpstreamTimeoutError } from '@vision/shared/upstream/ended-call';
import type { CallOutcome } from '@vision/shared/upstream/error-type';
import { responseHeaders } from './forward-headers.ts';
import type { Owner } from '@vision/contracts/public-operations';
import { UpstreamRequest } from './upstream-request.ts';

/** The gateway closed the connection of a client that exceeded this limit; undefined for a limit that is not a time. */
export interface Cut {
  limitMs: number | undefined;
}

/** A service as one request reaches it. */
interface Upstream {
  operation: string;
  owner: Owner;
  url: string;
  token: string;
  isAnswerAwaited: boolean;
  /** Ends a response that lasts for minutes and has no deadline. */
  ending: AbortSignal | undefined;
  /** Why the client was cut off, if it was. */
  cut: () => Cut | undefined;
  onAnswer: (headers: IncomingHttpHeaders) => void;
}

export interface ForwardLimits {
  connectTimeoutMs: number;
  /** Maximum time without data from either side. */
  idleMs: number;
  /** The same for reads, which do no long work. */
  readIdleMs: number;
}

interface ForwardedRequestOptions {
  target: Upstream;
  limits: ForwardLimits;
  agent: Agent;
}

/**
 * Margin for the response of the service, which names the cause of a timeout, to arrive before the gateway's own
 * timeout.
 */
const ANSWER_MARGIN_MS = 250;
/** Maximum silence of a stream; three heartbeats long. */
const STREAM_IDLE_MS = 30_000;

/** One request and its response. Owns the upstream request and the timers, which end with it. */
export class ForwardedRequest {
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #target: Upstream;
  readonly #idleMs: number;
  readonly #upstream: UpstreamRequest;
  readonly #isRead: boolean;
  #call: UpstreamCall | undefined;
  #settle: (failure?: AppError) => void = () => undefined;
  #watchdog: NodeJS.Timeout | undefined;
  #hasAnswer = false;
  #hasClientLeft = false;
  #answerHeaders: IncomingHttpHeaders = {};
  #isOver = false;

  constructor(req: IncomingMessage, res: ServerResponse, { target, limits, agent }: ForwardedRequestOptions) {
    this.#req = req;
    this.#res = res;
    this.#target = target;
    this.#isRead = req.method === 'GET' || req.method === 'HEAD';
    const idleMs = this.#isRead ? limits.readIdleMs : limits.idleMs;
    this.#idleMs = target.ending ? STREAM_IDLE_MS : idleMs;
    const deadlineMs = target.ending ? undefined : Math.max(0, this.#idleMs - ANSWER_MARGIN_MS);
    const { url, token } = target;
    this.#upstream = new UpstreamRequest(
      req,
      { url, token, agent, connectTimeoutMs: limits.connectTimeoutMs, deadlineMs },
      {
        answered: (answer) => this.#onAnswer(answer),
        failed: (cause) => this.#fail(cause),
        progressed: this.#onProgress,
      },
    );
  }

  /**
   * Resolves when the response was forwarded or the client disconnected; rejects with the error to send when the
   * service sent no response.
   */
  async run(): Promise<IncomingHttpHeaders> {
    if (this.#res.closed) return {};
    const deadline = createDeadline(this.#idleMs, this.#isRead && !this.#target.ending);
    if (this.#req.complete) deadline.start();
    else this.#req.once('end', deadline.start);
    this.#watchdog = setTimeout(() => this.#onSilence(), this.#idleMs);
    this.#res.once('close', this.#onClientClosed);
    const { owner: upstream, operation, url } = this.#target;
    const attributes = { 'http.request.method': this.#req.method ?? '', 'server.address': new URL(url).hostname };
    try {
      await withDeadline(deadline, () =>
        callUpstream({ upstream, operation, limitMs: this.#idleMs, attributes }, (call) => this.#exchange(call)),
      );
      return this.#answerHeaders;
    } finally {
      clearTimeout(this.#watchdog);
      this.#req.off('end', deadline.start);
      this.#res.off('close', this.#onClientClosed);
      this.#target.ending?.removeEventListener('abort', this.#onEnding);
    }
  }

  async #exchange(call: UpstreamCall): Promise<void> {
    this.#call = call;
    call.sent(() => this.#upstream.bytesSent);
    await new Promise<void>((resolve, reject) => {
      this.#settle = (failure) => (failure ? reject(failure) : resolve());
      this.#upstream.send();
      this.#target.ending?.addEventListener('abort', this.#onEnding);
      if (this.#target.ending?.aborted) this.#onEnding();
    });
  }

  #onAnswer(answer: IncomingMessage): void {
    if (this.#isOver) return;
    // The service refused the gateway's own token, which the client cannot fix: no service sends these to a client.
    if (answer.statusCode === 401 || answer.statusCode === 403) {
      this.#fail(new UpstreamAnswerError('answered_4xx', `our own token was refused with ${answer.statusCode}`));
      return;
    }
    this.#hasAnswer = true;
    this.#answerHeaders = answer.headers;
    this.#target.onAnswer(answer.headers);
    this.#call?.answered(answer.statusCode ?? 502);
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
    // A client that still uploads must not reuse the connection: the rest of its body is read and discarded below.
    if (!this.#req.complete) res.setHeader('Connection', 'close');
    res.flushHeaders();
    answer.on('data', this.#onProgress);
    answer.once('end', () => this.#finish());
    answer.once('close', () => {
      if (!answer.complete) this.#cut('connection_lost');
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

  /** The response was truncated: the client must not take it for a complete one. */
  #cut(word: CallOutcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#call?.ended(word);
    this.#res.destroy();
    this.#settle();
  }

  /** Neither side sent data for too long; the side that had to send is responsible. */
  #onSilence(): void {
    if (this.#hasAnswer) {
      this.#cut(this.#res.writableNeedDrain ? 'client_slow' : 'body_timeout');
    } else if (this.#upstream.awaits === 'client') {
      this.#call?.ended('client_slow');
      this.#giveUp(fail.requestInvalid('body_too_slow', 'The body did not arrive in time.'));
    } else {
      const word = this.#upstream.isSent || this.#isRead ? 'headers_timeout' : 'idle_timeout';
      this.#fail(new UpstreamTimeoutError(word, this.#idleMs));
    }
  }

  #fail(cause: unknown): void {
    // A service that responds early may close its side while the upload still runs; its response counts.
    if (this.#hasAnswer) return;
    this.#giveUp(fail.sysUnavailable(`${this.#target.owner}_unavailable`, cause));
  }

  #giveUp(refusal: AppError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#upstream.leave();
    this.#settle(refusal);
  }

  readonly #onProgress = () => {
    this.#watchdog?.refresh();
  };

  /** Ends a stream between two of its bytes. Its client reconnects and receives the reason. */
  readonly #onEnding = () => {
    if (this.#isOver) return;
    if (!this.#hasAnswer) {
      this.#giveUp(fail.sysUnavailable(`${this.#target.owner}_unavailable`));
      return;
    }
    this.#isOver = true;
    this.#call?.ended('canceled');
    this.#upstream.leave();
    this.#res.end();
    this.#settle();
  };

  readonly #onClientClosed = () => {
    if (this.#isOver) return;
    if (this.#target.isAnswerAwaited && this.#upstream.isSent && !this.#hasAnswer) {
      this.#hasClientLeft = true;
      return;
    }
    this.#isOver = true;
    const cut = this.#target.cut();
    this.#call?.ended(cut ? 'client_slow' : 'client_left', cut?.limitMs);
    this.#upstream.leave();
    this.#settle();
  };
}
