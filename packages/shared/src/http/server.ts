import { createServer } from 'node:http';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HttpServer {
  /** Starts listening; resolves with the port. */
  start: () => Promise<number>;
  /**
   * Continues to serve, but every response from now on closes its connection: a caller with keep-alive finds another
   * replica while this one still responds, instead of a connection that closes during its next request.
   */
  retire: () => void;
  /** Stops accepting, lets running requests finish within the grace time, then aborts them. */
  stop: (graceMs: number) => Promise<void>;
  /** The port in use; before the start the configured one. */
  readonly port: number;
  readonly server: Server;
}

export interface ListenOptions {
  host: string;
  port: number;
  /** false: the listener itself refuses requests without Host; Node would do it without a problem document. */
  requireHostHeader?: boolean;
  /** Longest time for the head of a request; 30 s when absent. */
  headTimeoutMs?: number;
  /** How long an idle connection is kept for its next request; 75 s when absent. */
  keepAliveMs?: number;
}

/**
 * An HTTP listener with explicit time limits. Bodies have their own watchdog (uploads may take long), so Node's
 * limit for a whole request is off; keep-alive has to outlast the idle time of the proxy in front, which otherwise
 * reuses a connection that was just closed.
 */
export function createHttpServer(
  listener: RequestListener,
  { host, port, requireHostHeader = true, headTimeoutMs = 30_000, keepAliveMs = 75_000 }: ListenOptions,
): HttpServer {
  const server = createServer(
    {
      keepAliveTimeout: keepAliveMs,
      headersTimeout: headTimeoutMs,
      connectionsCheckingInterval: Math.ceil(headTimeoutMs / 4),
      requestTimeout: 0,
      noDelay: true,
      requireHostHeader,
    },
    listener,
  );
  // Sends `100 Continue` only when a handler begins to read the body: a request refused by its head never sends one.
  server.on('checkContinue', (req, res) => {
    req.once('resume', () => {
      if (!res.headersSent) res.writeContinue();
    });
    server.emit('request', req, res);
  });
  const retire = retirementOf(server);
  let isStopping = false;
  server.prependListener('request', (_req, res: ServerResponse) => {
    res.setMaxListeners(LISTENERS);
    res.once('close', () => {
      if (isStopping) server.closeIdleConnections();
    });
  });
  return {
    server,
    retire,
    get port() {
      return (server.address() as AddressInfo | null)?.port ?? port;
    },
    start: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve((server.address() as AddressInfo).port);
        });
      }),
    stop: (graceMs) =>
      new Promise((resolve) => {
        // A keep-alive connection would bring further requests; each one closes after its current response.
        isStopping = true;
        retire();
        const cut = setTimeout(() => server.closeAllConnections(), graceMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

/** Limit per response: several handlers listen for its end, and Node.js warns of a leak beyond ten. */
const LISTENERS = 20;

/** Returns a function that makes every response, current ones included, the last one of its connection. */
function retirementOf(server: Server): () => void {
  const running = new Set<ServerResponse>();
  let isRetired = false;
  server.prependListener('request', (_req, res: ServerResponse) => {
    running.add(res);
    res.shouldKeepAlive &&= !isRetired;
    res.once('close', () => running.delete(res));
  });
  return () => {
    isRetired = true;
    for (const res of running) res.shouldKeepAlive = false;
  };
}
