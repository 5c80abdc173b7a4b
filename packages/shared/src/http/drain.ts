import type { IncomingMessage } from 'node:http';

const MAX_BYTES = 100 * 1024 * 1024;
const MAX_MS = 10_000;

/**
 * Reads and drops the rest of a request body, at most 100 MiB and 10 s, then calls `done` once; what a client still
 * sends after that meets a closed connection.
 */
export function drain(req: IncomingMessage, done: () => void): void {
  // A client that has left sends nothing more, and one that waits for `100 Continue` got the answer instead.
  const isWaiting = req.headers.expect !== undefined && req.readableFlowing === null;
  if (req.destroyed || isWaiting) {
    done();
    return;
  }
  let left = MAX_BYTES;
  const finish = () => {
    clearTimeout(timer);
    req.off('data', onData).off('end', finish).off('close', finish).off('error', finish);
    req.on('error', () => undefined);
    done();
  };
  const timer = setTimeout(finish, MAX_MS);
  const onData = (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) finish();
  };
  req.unpipe();
  req.on('data', onData).on('end', finish).on('close', finish).on('error', finish);
  req.resume();
}
