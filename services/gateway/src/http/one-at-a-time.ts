import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that may wait behind the one that is worked on; a client that pipelines more than this is none of ours. */
const WAITING_AT_MOST = 32;

/**
 * Works on one request of a connection at a time. Node hands on everything that was written into a connection at once:
 * a thousand requests in 64 KB, each of which would be worked on for a client that may be gone. Who sends too many
 * loses the connection.
 */
export function oneAtATime(listener: RequestListener, onTooMany: (socket: Socket) => void): RequestListener {
  const lines = new WeakMap<Socket, (() => void)[]>();
  const work = (req: IncomingMessage, res: ServerResponse, line: (() => void)[]) => {
    res.once('close', () => {
      const next = line.shift();
      if (next && isAnswerable(req.socket)) next();
      else lines.delete(req.socket);
    });
    listener(req, res);
  };
  return (req, res) => {
    const { socket } = req;
    if (!isAnswerable(socket)) return;
    const line = lines.get(socket);
    if (!line) {
      const first: (() => void)[] = [];
      lines.set(socket, first);
      work(req, res, first);
    } else if (line.length < WAITING_AT_MOST) line.push(() => work(req, res, line));
    else onTooMany(socket);
  };
}

/** A connection that has ended on our side stays for a while, until its client has read what it was sent. */
const isAnswerable = (socket: Socket) => !socket.destroyed && !socket.writableEnded;
