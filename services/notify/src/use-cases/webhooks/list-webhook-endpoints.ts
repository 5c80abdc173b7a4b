import { listEndpoints } from '../../db/webhook-endpoints.ts';
import { neededTools } from '../deps.ts';
import type { Deps } from '../deps.ts';
import { shownEndpoint } from './show-endpoint.ts';
import type { ShownEndpoint } from './show-endpoint.ts';

/** All endpoints of a subject, in the order of their ids. */
export async function listWebhookEndpoints(
  deps: Pick<Deps, 'db' | 'webhooks'>,
  subject: string,
): Promise<ShownEndpoint[]> {
  const { box } = neededTools(deps);
  return (await listEndpoints(deps.db, subject)).map((row) => shownEndpoint(box, row));
}
