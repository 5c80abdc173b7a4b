import { listWebhookKeys as question, MAX_WEBHOOK_KEYS } from '@vision/contracts/webhook-keys';
import { route } from '@vision/shared/http/route';
import { readKeys } from '../db/webhook-keys.ts';
import type { Deps } from '../use-cases/deps.ts';

export const listWebhookKeysRoute = ({ db }: Pick<Deps, 'db'>) =>
  route(
    {
      ...question,
      operation: 'listWebhookKeys',
      summary: 'List the API keys by which webhook endpoints were last changed',
      audience: 'internal',
      responses: { 200: { description: 'The keys', schema: question.reply } },
    },
    async ({ query: { after_subject: subject, after_key: key_id } }) => ({
      status: 200,
      body: { items: await readKeys(db, { subject, key_id }, MAX_WEBHOOK_KEYS) },
    }),
  );
