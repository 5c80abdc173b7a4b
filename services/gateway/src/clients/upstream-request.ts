import http from 'node:http';
import type { Agent, ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { outcomeWanted } from '@vision/contracts/outcome';
import { addTraceHeaders } from '@vision/shared/telemetry/trace-context';
import { deadlineHeader } from '@vision/shared/upstream/deadline';
import { UpstreamTimeoutError } from '@vision/shared/upstream/ended-call';
import { requestHeaders } from './forward-headers.ts';

interface UpstreamOptions {
  url: string;
  /** Replaces the client's authorization. */
  token: string;
  agent: Agent;
  connectTimeoutMs: number;
  /** Time limit for the response after the complete request; undefined for one without a deadline. */
  deadlineMs: number | undefined;
}

/** Events of the request; a failure may follow a response, and may be repeated. */
interface UpstreamEvents {
  answered: (answer: IncomingMessage) => void;
  failed: (cause: unknown) => void;
  /** Bytes of the body were forwarded. */
  progressed: () => void;
}

/** The forwarded request of a client: the head is sent at once, the body as it arrives. */
export class UpstreamRequest {
  readonly #req: IncomingMessage;
  readonly #options: UpstreamOptions;
  readonly #events: UpstreamEvents;
  readonly #hasBody: boolean;
  #request: ClientRequest | undefined;
  #hasAnswer = false;
  #hasLeft = false;
  #isPiping = false;
  #bytesSent = 0;

  constructor(req: IncomingMessage, options: UpstreamOptions, events: UpstreamEvents) {
    this.#req = req;
    this.#options = options;
    this.#events = events;
    this.#hasBody = hasBody(req);
  }

  /** Whether the service has received all of it. */
  get isSent(): boolean {
    return this.#request?.writableEnded === true;
  }

  /** Number of forwarded bytes of the body. */
  get bytesSent(): number {
    return this.#bytesSent;
  }

  /** The side that has to act: the client when the service has accepted all received bytes. */
  get awaits(): 'client' | 'service' {
    return this.#isPiping && !this.isSent && this.#request?.writableNeedDrain === false ? 'client' : 'service';
  }

  send(): void {
    this.#send(true);
  }

  /** Ends the request and the upload into it. */
  leave(): void {
    this.#hasLeft = true;
    this.#req.off('data', this.#onData);
    if (this.#request) {
      this.#req.unpipe(this.#request);
      this.#request.destroy();
    }
  }

  #send(mayRepeat: boolean): void {
    const { url, agent } = this.#options;
    const request = http.request(url, { method: this.#req.method, agent, headers: this.#headers() });
    this.#request = request;
    this.#watchConnect(request);
    request.once('response', (answer) => {
      this.#hasAnswer = true;
      this.#events.answered(answer);
    });
    request.on('error', (error) => {
      if (request !== this.#request) return;
      // The service may close an idle connection just as it is used; without a body the request can be sent again.
      const wasStale = request.reusedSocket && isReset(error);
      if (mayRepeat && wasStale && !this.#hasBody && !this.#hasAnswer && !this.#hasLeft) this.#send(false);
      else this.#events.failed(error);
    });
    this.#sendBody(request);
  }

  #sendBody(request: ClientRequest): void {
    if (!this.#hasBody) {
      request.end();
      return;
    }
    // The head is sent at once, so that the service can refuse it before the first byte of the body.
    request.flushHeaders();
    // A client that waits for `100 Continue` gets it when the service sends it; the gateway's listener then begins to
    // read the body.
    if (this.#req.headers.expect === undefined) this.#pipe(request);
    else request.once('continue', () => this.#pipe(request));
  }

  #pipe(request: ClientRequest): void {
    if (this.#hasLeft) return;
    this.#isPiping = true;
    this.#req.on('data', this.#onData);
    this.#req.pipe(request);
  }

  #headers(): OutgoingHttpHeaders {
    const headers = requestHeaders(this.#req.rawHeaders);
    if (!this.#hasBody) delete headers['content-length'];
    else if (this.#req.headers.expect !== undefined) headers['expect'] = '100-continue';
    const requestId = this.#req.headers['x-request-id'];
    const { token, deadlineMs } = this.#options;
    const own = { 'x-request-id': requestId, authorization: `Bearer ${token}` };
    const deadline = deadlineMs === undefined ? {} : { [deadlineHeader]: String(deadlineMs) };
    const sent = { ...headers, ...own, ...deadline, ...outcomeWanted };
    addTraceHeaders(sent);
    return sent;
  }

  readonly #onData = (chunk: Buffer) => {
    this.#bytesSent += chunk.length;
    this.#events.progressed();
  };

  #watchConnect(request: ClientRequest): void {
    request.once('socket', (socket) => {
      if (!socket.connecting) return;
      const { connectTimeoutMs } = this.#options;
      const late = () => this.#events.failed(new UpstreamTimeoutError('connect_timeout', connectTimeoutMs));
      const timer = setTimeout(late, connectTimeoutMs);
      const clear = () => clearTimeout(timer);
      socket.once('connect', clear).once('close', clear);
    });
  }
}

function hasBody({ method, headers }: IncomingMessage): boolean {
  // A body on GET or HEAD has no meaning and would reach the next hop without framing.
  if (method === 'GET' || method === 'HEAD') return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function isReset(error: Error & { code?: unknown }): boolean {
  return error.code === 'ECONNRESET' || error.code === 'EPIPE';
}
