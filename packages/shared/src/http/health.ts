import { setTimeout as delay } from 'node:timers/promises';
import type { RequestListener } from 'node:http';
import type { Logger } from '../logger.ts';
import { CHECK_INTERVAL_MS, createStartChecks } from '../start/start-checks.ts';
import type { StartCheck } from '../start/start-checks.ts';
import { metricsHandler } from '../start/started.ts';
import { createHttpServer } from './server.ts';
import type { HttpServer } from './server.ts';

export interface HealthOptions {
  host: string;
  port: number;
  logger: Logger;
  /** What has to be right once before the process is ready. */
  checks: StartCheck[];
  /** More that has to be true; cheap, may be cached. Never depends on another service. */
  ready?: (() => Promise<boolean> | boolean) | undefined;
  /** True while the process makes progress; never depends on a database, broker or other service. */
  live?: (() => boolean) | undefined;
  /** What takes requests; it retires when the process drains. */
  listeners: Pick<HttpServer, 'retire'>[];
}

export interface Health {
  readonly port: number;
  /** Opens the listener and asks the checks; resolves after their first answers, or 3 s. */
  start: () => Promise<void>;
  /**
   * From now on the process is not ready, and its listeners retire; resolves after a time in which they go on serving.
   */
  drain: (waitMs: number) => Promise<void>;
  stop: (graceMs: number) => Promise<void>;
}

/** The second port: `/health/startup`, `/health/ready`, `/health/live`, `/metrics`. */
export function createHealth({ host, port, logger, checks, ready, live, listeners }: HealthOptions): Health {
  const startChecks = createStartChecks(checks, logger, CHECK_INTERVAL_MS);
  let isDraining = false;
  const whyNotReady = async () => {
    if (isDraining) return ['the process is stopping'];
    const problems = startChecks.problems();
    return problems.length > 0 || (await ready?.()) !== false ? problems : ['the process is starting'];
  };
  const server = createHttpServer(answerWith(whyNotReady, live ?? (() => true)), { host, port });
  return {
    get port() {
      return server.port;
    },
    start: async () => {
      await server.start();
      await startChecks.start();
    },
    drain: async (waitMs) => {
      isDraining = true;
      for (const listener of listeners) listener.retire();
      await delay(waitMs);
    },
    stop: async (graceMs) => {
      await Promise.all([startChecks.stop(), server.stop(graceMs)]);
    },
  };
}

function answerWith(whyNotReady: () => Promise<string[]>, live: () => boolean): RequestListener {
  return (req, res) => {
    const path = (req.url ?? '').split('?')[0];
    if (path === '/metrics') {
      metricsHandler(res);
      return;
    }
    void answerOf(path, whyNotReady, live).then(({ status, reasons }) => {
      const text = status === 200 ? 'ok' : ['no', ...reasons].join('\n');
      res.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
    });
  };
}

async function answerOf(path: string | undefined, whyNotReady: () => Promise<string[]>, live: () => boolean) {
  try {
    if (path === '/health/live') return { status: live() ? 200 : 503, reasons: [] };
    if (path !== '/health/ready' && path !== '/health/startup') return { status: 404, reasons: [] };
    const reasons = await whyNotReady();
    return { status: reasons.length === 0 ? 200 : 503, reasons };
  } catch {
    return { status: 503, reasons: [] };
  }
}
