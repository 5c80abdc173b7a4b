import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { crashPoint } from '@vision/shared/crash-point';
import type { SecretBox } from '@vision/shared/secret-box';
import { dropDelivery, readClaim } from '../db/webhook-deliveries.ts';
import type { ClaimedDelivery } from '../db/webhook-deliveries.ts';
import { eventBody } from '../domain/event.ts';
import type { LoggedEvent } from '../domain/event.ts';
import type { HostPace } from '../domain/host-pace.ts';
import { openOf } from '../domain/webhook-box.ts';
import { parseWebhookUrl } from '../domain/webhook-url.ts';
import type { WebhookUrl } from '../domain/webhook-url.ts';
import type { Answer } from '../domain/delivery.ts';
import type { AttemptDeps, WebhookTools } from './deps.ts';
import { recordAttempt } from './record-attempt.ts';

interface AttemptOptions {
  pace: HostPace;
  signal: AbortSignal;
}

/** Sends a claimed delivery once and stores how it ended. @throws the reason of the signal. */
export async function attemptDelivery(
  deps: AttemptDeps,
  claim: ClaimedDelivery,
  { pace, signal }: AttemptOptions,
): Promise<void> {
  const claimed = await inTurn(deps, claim, { pace, signal });
  if (!claimed) return;
  const event = eventOf(claimed);
  if (!event) {
    // Its task was deleted, or it is older than events are retained.
    if (await dropDelivery(deps.db, claimed)) deps.signals.deliveriesDropped('event_removed', 1);
    return;
  }
  const body = JSON.stringify(eventBody(event));
  const at = new Date();
  const began = performance.now();
  const answer = await send(deps.webhooks, claimed, { body, at, signal });
  crashPoint('notify.webhook_sent');
  const attempt = { at: at.toISOString(), duration_ms: Math.round(performance.now() - began) };
  await recordAttempt(deps, claimed, { answer, attempt, occurredAt: event.occurred_at });
}

/** Waits for the pace of the host. Meanwhile the endpoint may have been changed or deleted, or its key revoked. */
async function inTurn(
  { db }: AttemptDeps,
  claim: ClaimedDelivery,
  { pace, signal }: AttemptOptions,
): Promise<ClaimedDelivery | undefined> {
  const waitMs = pace.delayOf(claim.host);
  if (waitMs === 0) return claim;
  await delay(waitMs, undefined, { signal });
  return readClaim(db, claim);
}

async function send(
  { box, rules, post }: WebhookTools,
  claimed: ClaimedDelivery,
  { body, at, signal }: { body: string; at: Date; signal: AbortSignal },
): Promise<Answer> {
  const url = urlOf(box, rules, claimed);
  // The address is one that the rules do not allow any more.
  if (!url) return { outcome: 'unreachable' };
  const headers = signedHeaders(secretsOf(box, claimed), { id: claimed.event_id, at, body });
  return post({ url, headers, body, signal });
}

function urlOf(box: SecretBox, rules: WebhookTools['rules'], claimed: ClaimedDelivery): WebhookUrl | undefined {
  const text = openOf(box, claimed.endpoint_key, 'url', claimed.url_box);
  try {
    return parseWebhookUrl(text, rules);
  } catch {
    return undefined;
  }
}

/** The secret in force, and the one that it replaces while that is valid. */
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
