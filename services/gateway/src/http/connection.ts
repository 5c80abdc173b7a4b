import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createPace } from '../domain/pace.ts';
import type { Pace, PaceLimits } from '../domain/pace.ts';

/** Why a connection was ended before its client wanted. */
export type CutReason =
  | 'slow_upload'
  | 'slow_reader'
  | 'body_timeout'
  | 'answer_timeout'
  | 'head_timeout'
  | 'too_many_connections'
  | 'too_many_pipelined';

export interface ConnectionLimits extends PaceLimits {
  /** Longest time for the body of a request. */
  bodyMs: number;
  /** Longest time for an answer, from its first byte. */
  answerMs: number;
}

interface Exchange {
  req: IncomingMessage;
  res: ServerResponse;
  startedAt: number;
  answeredAt: number | undefined;
}

/** What happens on one socket. It looks from time to time and slows nothing down. */
export class Connection {
  readonly #socket: Socket;
  readonly #limits: ConnectionLimits;
  readonly #upload: Direction;
  readonly #answer: Direction;
  #exchanges: Exchange[] = [];
  #wasHeld = false;

  constructor(socket: Socket, limits: ConnectionLimits) {
    this.#socket = socket;
    this.#limits = limits;
    this.#upload = new Direction(createPace(limits));
    this.#answer = new Direction(createPace(limits));
  }

  begin(req: IncomingMessage, res: ServerResponse): void {
    this.#exchanges.push({ req, res, startedAt: performance.now(), answeredAt: undefined });
    // Whoever reads the body has no room for more: from here on the client waits for us.
    req.on('pause', () => {
      this.#wasHeld = true;
    });
  }

  /** Looks at what moved in the last `passedMs`; returns why the connection has to end. */
  look(now: number, passedMs: number): CutReason | undefined {
    this.#exchanges = this.#exchanges.filter(({ req, res }) => !(req.complete && res.closed));
    const isAwaited = this.#exchanges.some(({ req }) => isBodyAwaited(req)) && !this.#wasHeld;
    this.#wasHeld = false;
    const isUploadSlow = this.#upload.look(isAwaited, this.#socket.bytesRead, passedMs);
    const isReaderSlow = this.#answer.look(this.#socket.writableLength > 0, bytesTaken(this.#socket), passedMs);
    if (isUploadSlow) return 'slow_upload';
    if (isReaderSlow) return 'slow_reader';
    return this.#overdue(now);
  }

  #overdue(now: number): CutReason | undefined {
    for (const exchange of this.#exchanges) {
      const { req, res, startedAt } = exchange;
      if (!req.complete && now - startedAt > this.#limits.bodyMs) return 'body_timeout';
      if (!res.headersSent || res.closed) continue;
      exchange.answeredAt ??= now;
      if (now - exchange.answeredAt > this.#limits.answerMs) return 'answer_timeout';
    }
    return undefined;
  }
}

/** One direction of a connection: only time that is spent waiting for the client from look to look counts. */
class Direction {
  readonly #pace: Pace;
  #wasAwaited = false;
  #moved = 0;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  look(isAwaited: boolean, moved: number, passedMs: number): boolean {
    const isTooSlow = isAwaited && this.#wasAwaited && this.#pace.add(passedMs, moved - this.#moved);
    this.#wasAwaited = isAwaited;
    this.#moved = moved;
    return isTooSlow;
  }
}

/** The body is being read, and all that has arrived of it was taken. */
function isBodyAwaited(req: IncomingMessage): boolean {
  return !req.complete && req.readableFlowing === true && req.readableLength === 0;
}

/** Bytes that the system has taken for the client. `bytesWritten` would count what still waits in this process too. */
function bytesTaken(socket: Socket): number {
  // Node shows the progress inside one large write nowhere else; its own idle timer of a socket reads the same two.
  const { _handle: handle } = socket as { _handle?: { bytesWritten: number; writeQueueSize: number } | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}
