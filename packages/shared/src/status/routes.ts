import { getServiceStatus, ping } from '@vision/contracts/status';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import type { StatusReader } from './status.ts';

/** The route by which a process tells how it stands; the operation is named after the service. */
export function statusRoute(operation: string, status: StatusReader): Route {
  return route(
    {
      ...getServiceStatus,
      operation,
      summary: 'Returns the status of this process: dependencies, breakers, outbox, lag',
      audience: 'internal',
      responses: {
        200: { description: 'Returned also if a dependency is not healthy', schema: getServiceStatus.reply },
      },
    },
    async () => ({ status: 200, body: await status.read() }),
  );
}

/** The route by which callers find out whether they are understood. */
export function pingRoute(operation: string, service: string): Route {
  return route(
    {
      ...ping,
      operation,
      summary: 'Checks that the address and the key of the caller are right',
      audience: 'internal',
      responses: { 200: { description: 'Both are right', schema: ping.reply } },
    },
    async () => ({ status: 200, body: { service } }),
  );
}
