import { z } from 'zod';
import { keyScopes } from '@vision/contracts/scopes';
import { route } from '@vision/shared/http/route';

const key = z
  .strictObject({
    key_id: z.string().describe('Names the key in the audit log and to the operator; it is no secret'),
    scopes: z.array(z.enum(keyScopes)).describe('What the key may do; a key without limits has all of them'),
  })
  .meta({ id: 'Key', description: 'The API key of the request' });

const example = { key_id: '5f0c8a1e3f6d8b42', scopes: [...keyScopes] };

export const getKeyRoute = () =>
  route(
    {
      operation: 'getKey',
      method: 'get',
      path: '/v1/vision/key',
      summary: 'Returns what the API key may do',
      description: 'Every key may ask; no scope is needed.',
      tag: 'Account',
      audience: 'public',
      responses: { 200: { description: 'The key', schema: key, example } },
    },
    async ({ caller, res }) => ({
      status: 200,
      body: { key_id: String(res.locals['keyId']), scopes: [...(caller.scopes ?? keyScopes)] },
    }),
  );
