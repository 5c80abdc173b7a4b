import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum number of waiting requests on one connection; no supported client pipelines more. */
const WAITING_AT_MOST = 32;

/**
 * Processes one request of a connection at a time. Node delivers everything that was written into a connection at once:
 * a thousand requests in 64 KB, each of which would be processed for a client that may be gone. A client that sends too
 * many loses the connection.
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

/** A connection that the gateway has ended stays for a while, until its client has read its response. */
const isAnswerable = (socket: Socket) => !socket.destroyed && !socket.writableEnded;
