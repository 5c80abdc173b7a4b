import { findEndpoint } from '../../db/webhook-endpoints.ts';
import { neededTools } from '../deps.ts';
import type { Deps } from '../deps.ts';
import { foundEndpoint, shownEndpoint } from './show-endpoint.ts';
import type { ShownEndpoint } from './show-endpoint.ts';

/** An endpoint of a subject. @throws AppError `endpoint_not_found`. */
export async function getWebhookEndpoint(
  deps: Pick<Deps, 'db' | 'webhooks'>,
  subject: string,
  endpointId: string,
): Promise<ShownEndpoint> {
  const { box } = neededTools(deps);
  return shownEndpoint(box, foundEndpoint(await findEndpoint(deps.db, subject, endpointId)));
}
