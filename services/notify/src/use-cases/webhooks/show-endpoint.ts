import { fail } from '@vision/contracts/errors';
import type { SecretBox } from '@vision/shared/secret-box';
import type { EndpointRow } from '../../db/webhook-endpoints.ts';
import type { DisabledReason } from '../../domain/delivery.ts';
import { openOf } from '../../domain/webhook-box.ts';

/** An endpoint in the form for its owner: with its address, without its secrets. */
export interface ShownEndpoint {
  endpointId: string;
  url: string;
  eventTypes: string[] | null;
  isEnabled: boolean;
  disabledReason: DisabledReason | null;
  failingSince: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

export const shownEndpoint = (box: SecretBox, row: EndpointRow): ShownEndpoint => ({
  endpointId: row.endpoint_id,
  url: openOf(box, row.endpoint_key, 'url', row.url_box),
  eventTypes: row.event_types,
  isEnabled: row.is_enabled,
  disabledReason: row.disabled_reason,
  failingSince: row.failing_since,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

/** The row, when there is one. @throws AppError `endpoint_not_found`. */
export function foundEndpoint(row: EndpointRow | undefined): EndpointRow {
  if (row) return row;
  throw endpointNotFound();
}

/** The row, when its endpoint is enabled. @throws AppError `endpoint_not_found`, `endpoint_disabled`. */
export function enabledEndpoint(row: EndpointRow | undefined): EndpointRow {
  if (foundEndpoint(row).is_enabled) return foundEndpoint(row);
  throw endpointDisabled();
}

export const endpointNotFound = () =>
  fail.notFound('You have no webhook endpoint with this endpoint_id.', 'endpoint_not_found');

export const endpointDisabled = () =>
  fail.conflict('endpoint_disabled', 'The webhook endpoint is disabled. Send it with "enabled": true first.');
