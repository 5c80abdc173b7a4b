import type { RequestListener } from 'node:http';
import { metricsHandler } from '../telemetry.ts';

export interface HealthChecks {
  /** True once the service can answer requests; cheap, may be cached. Never depends on another service. */
  ready: () => Promise<boolean> | boolean;
  /** True while the process makes progress; never depends on a database, broker or other service. */
  live?: (() => boolean) | undefined;
}

/** Listener of the second port: `/health/startup`, `/health/ready`, `/health/live`, `/metrics`. */
export function healthListener(checks: HealthChecks): RequestListener {
  return (req, res) => {
    const path = (req.url ?? '').split('?')[0];
    if (path === '/metrics') {
      metricsHandler(req, res);
      return;
    }
    void answerOf(path, checks).then((answer) => {
      res.writeHead(answer, { 'Content-Type': 'text/plain' }).end(answer === 200 ? 'ok\n' : 'no\n');
    });
  };
}

async function answerOf(path: string | undefined, checks: HealthChecks): Promise<number> {
  try {
    if (path === '/health/live') return (checks.live?.() ?? true) ? 200 : 503;
    if (path === '/health/ready' || path === '/health/startup') return (await checks.ready()) ? 200 : 503;
    return 404;
  } catch {
    return 503;
  }
}
