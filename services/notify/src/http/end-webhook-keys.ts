import { endWebhookKeys as question } from '@vision/contracts/webhook-keys';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { endWebhookKeys } from '../use-cases/webhooks/end-webhook-keys.ts';

export const endWebhookKeysRoute = (deps: Pick<Deps, 'db' | 'signals'>) =>
  route(
    {
      ...question,
      operation: 'endWebhookKeys',
      summary: 'Disables the webhook endpoints of API keys that have ended',
      audience: 'internal',
      responses: {
        200: { description: 'Numbers of disabled endpoints and dropped deliveries', schema: question.reply },
      },
    },
    async ({ body }) => ({ status: 200, body: await endWebhookKeys(deps, body.items) }),
  );
