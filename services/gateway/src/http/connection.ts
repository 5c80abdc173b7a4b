import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createPace } from '../domain/pace.ts';
import type { Pace, PaceLimits } from '../domain/pace.ts';
import { inodeOf } from './send-queues.ts';

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

interface RequestInProgress {
  req: IncomingMessage;
  res: ServerResponse;
  startedAt: number;
  answeredAt: number | undefined;
}

/** What is known when connections are looked at. */
export interface Look {
  /** When it was found out. */
  now: number;
  /** Since the look before. */
  passedMs: number;
  /** Bytes of answers that the kernel holds for this client. */
  queued: number;
  /** The kernel holds too much: the pace of those who read is judged by this look alone. */
  isCrowded: boolean;
}

/** So little is on its way to every client that asks again and again, and costs nothing. */
const SMALL_QUEUE_BYTES = 16 * 1024;

/**
 * Heartbeats of a stream are too small to be judged by pace. A client whose network is gone acknowledges none of them:
 * with one every 10 s, its request slot is free within 15 s.
 */
const STREAM_SILENCE_MS = 4_000;

/** What happens on one socket. It looks from time to time and slows nothing down. */
export class Connection {
  /** The number of the socket in the tables of the kernel. */
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
    // The reader of the body has no room for more: from here on the client waits for us.
    req.on('pause', () => {
      this.#wasHeld = true;
    });
  }

  /** Looks at what moved since the last time; returns why the connection has to end. */
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

  /** Whether the client of a stream has acknowledged nothing of what waits for it, for too long. */
  #isStreamStuck({ taken, queued, passedMs }: { taken: number; queued: number; passedMs: number }): boolean {
    const isSilent = queued > 0 && taken === this.#stream.taken && this.#exchanges.some(({ res }) => isStream(res));
    this.#stream = { taken, silentMs: isSilent ? this.#stream.silentMs + passedMs : 0 };
    return this.#stream.silentMs >= STREAM_SILENCE_MS;
  }

  /**
   * A socket that is closed leaves what was not read to the kernel, where nothing of ours reaches it. So one that has
   * ended stays open, and is judged, until its client has read what it was sent; the client sees the end at once.
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

/** One direction of a connection: only time that is spent waiting for the client from look to look counts. */
class Direction {
  /** Whether the client was waited for since the look before, and moved less than the least pace. */
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
