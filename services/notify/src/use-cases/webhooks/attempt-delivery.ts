import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { crashPoint } from '@vision/shared/crash-point';
import type { SecretBox } from '@vision/shared/secret-box';
import { dropDelivery, readClaim, releaseDelivery } from '../../db/webhook-deliveries.ts';
import type { ClaimedDelivery } from '../../db/webhook-deliveries.ts';
import { eventBody } from '../../domain/event.ts';
import type { LoggedEvent } from '../../domain/event.ts';
import type { HostPace } from '../../domain/host-pace.ts';
import { openOf } from '../../domain/webhook-box.ts';
import { parseWebhookUrl } from '../../domain/webhook-url.ts';
import type { WebhookUrl } from '../../domain/webhook-url.ts';
import type { Answer } from '../../domain/delivery.ts';
import type { AttemptDeps, WebhookTools } from '../deps.ts';
import type { RecordAttempt } from './record-attempt.ts';

interface AttemptOptions {
  pace: HostPace;
  record: RecordAttempt;
  signal: AbortSignal;
}

/** Sends a claimed delivery once and stores the outcome. @throws the reason of the signal. */
export async function attemptDelivery(
  deps: AttemptDeps,
  claim: ClaimedDelivery,
  options: AttemptOptions,
): Promise<void> {
  if (!eventOf(claim)) return drop(deps, claim);
  const begun = performance.now();
  const target = await targetOf(deps.webhooks, claim, options.signal);
  const lookupMs = performance.now() - begun;
  const claimed = 'address' in target ? await inTurn(deps, claim, target.address, options) : claim;
  if (!claimed) return;
  const event = eventOf(claimed);
  if (!event) return drop(deps, claimed);
  const at = new Date();
  const sent = performance.now();
  const answer =
    'address' in target ? await send(deps.webhooks, claimed, { ...target, ...options, event, at }) : target;
  crashPoint('notify.webhook_sent');
  const attempt = { at: at.toISOString(), duration_ms: Math.round(lookupMs + performance.now() - sent) };
  await options.record(claimed, { answer, attempt, occurredAt: event.occurred_at });
}

/** Drops a delivery whose task was deleted, or whose event has expired. */
async function drop({ db, signals }: AttemptDeps, claim: ClaimedDelivery): Promise<void> {
  if (await dropDelivery(db, claim)) signals.deliveriesDropped('event_removed', 1);
}

interface Target {
  url: WebhookUrl;
  address: string;
}

async function targetOf(
  { box, rules, http }: WebhookTools,
  claim: ClaimedDelivery,
  signal: AbortSignal,
): Promise<Target | Answer> {
  const url = urlOf(box, rules, claim);
  // The rules no longer allow the address.
  if (!url) return { outcome: 'unreachable' };
  const found = await http.resolve({ url, signal });
  return 'address' in found ? { url, ...found } : found;
}

/**
 * Waits for the rate limit of the host, by its name and by its address: many names may lead to one machine, and one
 * name to many. In the meantime the endpoint may be changed or deleted, or its key revoked.
 */
async function inTurn(
  { db }: AttemptDeps,
  claim: ClaimedDelivery,
  address: string,
  { pace, signal }: AttemptOptions,
): Promise<ClaimedDelivery | undefined> {
  const waitMs = Math.max(...[...new Set([claim.host, address])].map(pace.delayOf));
  if (waitMs === 0) return claim;
  await delay(waitMs, undefined, { signal });
  const claimed = await readClaim(db, claim);
  if (!claimed || claimed.url_box.equals(claim.url_box)) return claimed;
  // Its address has changed and may lead to another host, so it waits for the rate limit of that one.
  await releaseDelivery(db, claimed);
  return undefined;
}

interface Sending extends Target {
  event: LoggedEvent;
  at: Date;
  signal: AbortSignal;
}

async function send(
  { box, http }: WebhookTools,
  claimed: ClaimedDelivery,
  { url, address, event, at, signal }: Sending,
): Promise<Answer> {
  const body = JSON.stringify(eventBody(event));
  const headers = signedHeaders(secretsOf(box, claimed), { id: claimed.event_id, at, body });
  return http.post({ url, address, headers, body, signal });
}

function urlOf(box: SecretBox, rules: WebhookTools['rules'], claim: ClaimedDelivery): WebhookUrl | undefined {
  const text = openOf(box, claim.endpoint_key, 'url', claim.url_box);
  try {
    return parseWebhookUrl(text, rules);
  } catch {
    return undefined;
  }
}

/** The current secret, and the one that it replaces while that is valid. */
function secretsOf(box: SecretBox, { endpoint_key, secret_box, old_secret_box }: ClaimedDelivery): string[] {
  const boxes = old_secret_box ? [secret_box, old_secret_box] : [secret_box];
  return boxes.map((sealed) => openOf(box, endpoint_key, 'secret', sealed));
}

/** Headers of Standard Webhooks 1.0, with one signature for each secret. */
function signedHeaders(
  secrets: string[],
  { id, at, body }: { id: string; at: Date; body: string },
): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
  };
}

function eventOf({ event_id, type, position, occurred_at, data }: ClaimedDelivery): LoggedEvent | undefined {
  return occurred_at && data !== null ? { event_id, type, position, occurred_at, data } : undefined;
}
