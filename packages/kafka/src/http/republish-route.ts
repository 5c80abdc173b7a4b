import { republishOutbox } from '@vision/contracts/outbox';
import { republish } from '../republish.ts';
import type { RepublishDeps } from '../republish.ts';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';

/** The route by which a service publishes its events again; the operation is named after the service. */
export function republishOutboxRoute(operation: string, deps: RepublishDeps): Route {
  return route(
    {
      ...republishOutbox,
      operation,
      summary: 'Publishes the events of a period again',
      audience: 'internal',
      responses: { 200: { description: 'One page', schema: republishOutbox.reply } },
    },
    async ({ body }) => ({ status: 200, body: await republish(deps, body) }),
  );
}
