import { listWebhookKeys as question } from '@vision/contracts/webhook-keys';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { listWebhookKeys } from '../use-cases/webhooks/list-webhook-keys.ts';

export const listWebhookKeysRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      ...question,
      operation: 'listWebhookKeys',
      summary: 'Lists the API keys by which webhook endpoints were last changed',
      audience: 'internal',
      responses: { 200: { description: 'The keys', schema: question.reply } },
    },
    async ({ query: { after_subject: subject, after_key: key_id } }) => ({
      status: 200,
      body: { items: await listWebhookKeys(deps, { subject, key_id }) },
    }),
  );
