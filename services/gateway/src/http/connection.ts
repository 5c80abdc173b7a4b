import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createPace } from '../domain/pace.ts';
import type { Pace, PaceLimits } from '../domain/pace.ts';
import { inodeOf } from './send-queues.ts';

/** Why the gateway ended a connection. */
export type CutReason =
  | 'slow_upload'
  | 'slow_reader'
  | 'body_timeout'
  | 'answer_timeout'
  | 'head_timeout'
  | 'too_many_connections'
  | 'too_many_pipelined';

export interface ConnectionLimits extends PaceLimits {
  /** Time limit for the body of a request. */
  bodyMs: number;
  /** Time limit for a response, from its first byte. */
  answerMs: number;
}

interface RequestInProgress {
  req: IncomingMessage;
  res: ServerResponse;
  startedAt: number;
  answeredAt: number | undefined;
}

/** State at a check of connections. */
export interface Look {
  /** Time of the check. */
  now: number;
  /** Time since the previous check. */
  passedMs: number;
  /** Bytes of responses that the kernel holds for this client. */
  queued: number;
  /** The kernel holds too much: the pace of readers is evaluated by this check alone. */
  isCrowded: boolean;
}

/** Every client that polls has this few bytes in flight; they need no limit. */
const SMALL_QUEUE_BYTES = 16 * 1024;

/**
 * Heartbeats of a stream are too small to measure a pace. A client whose network has failed acknowledges none of them:
 * with one every 10 s, its request slot is free within 15 s.
 */
const STREAM_SILENCE_MS = 4_000;

/** Activity of one socket. It is sampled periodically, without delaying data. */
export class Connection {
  /** The inode of the socket in the tables of the kernel. */
  readonly inode: number | undefined;
  readonly #socket: Socket;
  readonly #limits: ConnectionLimits;
  readonly #upload: Direction;
  readonly #answer: Direction;
  #exchanges: RequestInProgress[] = [];
  #wasHeld = false;
  #stream = { taken: 0, silentMs: 0 };
  #ended: { at: number; letGo: () => void } | undefined;

  constructor(socket: Socket, limits: ConnectionLimits) {
    this.inode = inodeOf(socket);
    this.#socket = socket;
    this.#limits = limits;
    this.#upload = new Direction(limits);
    this.#answer = new Direction(limits);
    this.#keepUntilRead();
  }

  begin(req: IncomingMessage, res: ServerResponse): void {
    this.#exchanges.push({ req, res, startedAt: performance.now(), answeredAt: undefined });
    // The buffer of the body's reader is full: from now on the client waits for the service.
    req.on('pause', () => {
      this.#wasHeld = true;
    });
  }

  /** Measures the bytes since the previous check; returns why the connection has to end. */
  look({ now, passedMs, queued, isCrowded }: Look): CutReason | undefined {
    this.#exchanges = this.#exchanges.filter(({ req, res }) => !(req.complete && res.closed));
    const isAwaited = this.#exchanges.some(({ req }) => isBodyAwaited(req)) && !this.#wasHeld;
    this.#wasHeld = false;
    const isUploadSlow = this.#upload.look(isAwaited, this.#socket.bytesRead, passedMs);
    const isUnread = this.#socket.writableLength > 0 || queued > SMALL_QUEUE_BYTES;
    const taken = bytesTaken(this.#socket) - queued;
    const isReaderSlow = this.#answer.look(isUnread, taken, passedMs);
    if (!isUnread && this.#ended && this.#ended.at < now) this.#ended.letGo();
    if (isUploadSlow) return 'slow_upload';
    if (isReaderSlow || (isCrowded && this.#answer.wasSlow)) return 'slow_reader';
    if (this.#isStreamStuck({ taken, queued, passedMs })) return 'slow_reader';
    return this.#overdue(now);
  }

  /** Whether the client of a stream has acknowledged none of its pending bytes for too long. */
  #isStreamStuck({ taken, queued, passedMs }: { taken: number; queued: number; passedMs: number }): boolean {
    const isSilent = queued > 0 && taken === this.#stream.taken && this.#exchanges.some(({ res }) => isStream(res));
    this.#stream = { taken, silentMs: isSilent ? this.#stream.silentMs + passedMs : 0 };
    return this.#stream.silentMs >= STREAM_SILENCE_MS;
  }

  /**
   * The kernel keeps the unread bytes of a closed socket beyond the control of this process. So an ended socket stays
   * open, and is checked, until its client has read its response; the client sees the end at once.
   */
  #keepUntilRead(): void {
    const socket = this.#socket;
    const end = socket._final.bind(socket);
    socket._final = (done) =>
      end((error) => {
        if (error || this.inode === undefined || socket.bytesWritten <= SMALL_QUEUE_BYTES) done(error);
        else this.#ended = { at: performance.now(), letGo: () => done() };
      });
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

/** One direction of a connection: only time spent waiting for the client between checks counts. */
class Direction {
  /** Whether the client was awaited since the previous check, and was slower than the minimum pace. */
  wasSlow = false;
  readonly #limits: PaceLimits;
  readonly #pace: Pace;
  #wasAwaited = false;
  #moved = 0;

  constructor(limits: PaceLimits) {
    this.#limits = limits;
    this.#pace = createPace(limits);
  }

  look(isAwaited: boolean, moved: number, passedMs: number): boolean {
    const isWaited = isAwaited && this.#wasAwaited;
    const bytes = moved - this.#moved;
    this.wasSlow = isWaited && bytes * 1000 < this.#limits.minBytesPerS * passedMs;
    this.#wasAwaited = isAwaited;
    this.#moved = moved;
    return isWaited && this.#pace.add(passedMs, bytes);
  }
}

const isStream = (res: ServerResponse) => String(res.getHeader('content-type')).startsWith('text/event-stream');

/** The body is being read, and all received bytes were processed. */
function isBodyAwaited(req: IncomingMessage): boolean {
  return !req.complete && req.readableFlowing === true && req.readableLength === 0;
}

/**
 * Bytes that the system has accepted for the client. `bytesWritten` also counts those that are queued in this process.
 */
function bytesTaken(socket: Socket): number {
  // Node shows the progress inside one large write only here; its own idle timer of a socket reads the same two fields.
  const { _handle: handle } = socket as { _handle?: { bytesWritten: number; writeQueueSize: number } | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}
