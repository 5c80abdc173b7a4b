import { createPoller } from '@vision/shared/async/poller';
import type { Poller } from '@vision/shared/async/poller';
import type { Logger } from '@vision/shared/logger';
import { endWebhookKeys, listWebhookKeys, MAX_ENDED_KEYS, MAX_WEBHOOK_KEYS } from '@vision/contracts/webhook-keys';
import type { WebhookKey } from '@vision/contracts/webhook-keys';
import { findEndedKeys } from '../db/ended-keys.ts';
import { OPERATOR } from '../domain/audit.ts';
import type { Deps } from './deps.ts';

type EndDeps = Pick<Deps, 'db' | 'owners' | 'signals'>;

/**
 * Ends webhooks whose keys have ended. Only this service knows keys, and only notify knows endpoints, so this requests
 * the keys of the endpoints from notify, and reports which of them have ended. Repetition makes up for every crash and
 * every outage of one of the two; concurrent replicas do the same twice.
 */
async function endWebhooks({ db, owners, signals }: EndDeps): Promise<void> {
  let after: WebhookKey | undefined;
  for (;;) {
    const query = { after_subject: after?.subject, after_key: after?.key_id ?? undefined };
    const { items: keys } = await owners.notify.ask(listWebhookKeys, { subject: OPERATOR, query });
    const found = keys.length === 0 ? [] : await findEndedKeys(db, keys);
    for (let from = 0; from < found.length; from += MAX_ENDED_KEYS) {
      const body = { items: found.slice(from, from + MAX_ENDED_KEYS) };
      const ended = await owners.notify.ask(endWebhookKeys, { subject: OPERATOR, body });
      if (ended.endpoints > 0) signals.webhooksEnded(ended);
    }
    if (keys.length < MAX_WEBHOOK_KEYS) return;
    after = keys.at(-1);
  }
}

/** Repeats it at an interval, within which a revoked key has to lose its effect. */
export const createWebhookEnds = (deps: EndDeps & { logger: Logger; intervalMs: number }): Poller =>
  createPoller({
    name: 'webhook-keys',
    intervalMs: deps.intervalMs,
    maxBackoffMs: deps.intervalMs,
    logger: deps.logger,
    run: async () => {
      await endWebhooks(deps);
      return 0;
    },
  });
