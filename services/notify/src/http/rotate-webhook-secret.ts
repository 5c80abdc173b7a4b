import { z } from 'zod';
import { refusalOf } from '@vision/contracts/errors';
import { paramsOf } from '@vision/contracts/ids';
import { parsePart, route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { rotateWebhookSecret } from '../use-cases/webhooks/rotate-webhook-secret.ts';
import { endpointNotFound } from '../use-cases/webhooks/show-endpoint.ts';
import { exampleSecret, secretField } from './webhook-endpoint.ts';

const PATH = '/v1/vision/webhook-endpoints/{endpoint_id}/rotate-secret';

const body = z
  .strictObject({
    overlap_s: z
      .int()
      .min(0)
      .max(86_400)
      .default(86_400)
      .describe('Seconds during which webhooks carry a signature of the old secret too'),
    secret: secretField,
  })
  .meta({ id: 'SecretRotationRequest' });

const rotation = z
  .object({
    secret: z.string().optional().describe('The new secret, in this response only; absent when you chose it'),
    old_secret_expires_at: z.iso
      .datetime()
      .optional()
      .describe('Time until which webhooks carry a signature of the old secret too'),
  })
  .meta({ id: 'SecretRotation', description: 'The new secret of a webhook endpoint' });

const bodyReasons = { secret: 'secret_invalid' } as const;

export const rotateWebhookSecretRoute = (deps: Pick<Deps, 'db' | 'webhooks'>) =>
  route(
    {
      operation: 'rotateWebhookSecret',
      method: 'post',
      path: PATH,
      summary: 'Replaces the secret of a webhook endpoint',
      description:
        'Makes a new secret, or takes yours. During the overlap each webhook carries two signatures, so that a receiver ' +
        'can check with either secret. A further rotation within the overlap ends the older one. Send a `secret` of your ' +
        'own to be able to repeat the request: the secret that is in force already changes nothing.',
      tag: 'Webhooks',
      audience: 'public',
      params: paramsOf(PATH),
      body,
      bodyExample: { overlap_s: 3600 },
      bodyReasons,
      responses: {
        200: {
          description: 'The secret was replaced',
          schema: rotation,
          example: { secret: exampleSecret, old_secret_expires_at: '2026-03-15T09:30:00.000Z' },
        },
      },
      refusalExamples: () => [
        refusalOf(() => parsePart(body, { overlap_s: 86_401 }, 'body', bodyReasons)),
        endpointNotFound(),
      ],
    },
    async ({ params, body: { overlap_s: overlapS, secret }, caller }) => {
      const request = { endpointId: params['endpoint_id'] ?? '', overlapS, secret };
      const { secret: made, oldSecretExpiresAt } = await rotateWebhookSecret(deps, caller.subject, request);
      return { status: 200, body: { secret: made, old_secret_expires_at: oldSecretExpiresAt?.toISOString() } };
    },
  );
