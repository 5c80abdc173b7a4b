import { republishOutbox } from '../contracts/outbox.ts';
import { republish } from '../messaging/republish.ts';
import type { RepublishDeps } from '../messaging/republish.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';

/** The route by which a service publishes its events again; the operation is named after the service. */
export function republishOutboxRoute(operation: string, deps: RepublishDeps): Route {
  return route(
    {
      ...republishOutbox,
      operation,
      summary: 'Publish again what was published in a time',
      audience: 'internal',
      responses: { 200: { description: 'One page', schema: republishOutbox.reply } },
    },
    async ({ body }) => ({ status: 200, body: await republish(deps, body) }),
  );
}
