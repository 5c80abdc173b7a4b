import { z } from 'zod';
import { route } from '@vision/shared/http/route';
import type { ResponseDoc, Route } from '@vision/shared/http/route';
import { createKey } from '../../use-cases/create-key.ts';
import type { Deps } from '../../use-cases/deps.ts';
import { listKeys } from '../../use-cases/list-keys.ts';
import { revokeKey } from '../../use-cases/revoke-key.ts';
import { keyEnded, rotateKey } from '../../use-cases/rotate-key.ts';
import {
  actorOf,
  createdKey,
  exampleCreatedKey,
  exampleKeyView,
  keyPath,
  keyView,
  operatorHeaders,
  operatorInvalid,
  subject,
  toKeyView,
  keyName,
  scopes,
} from './schemas.ts';

const OVERLAP_AT_MOST_S = 30 * 24 * 3600;

const newKey = z
  .strictObject({ name: keyName, subject: subject.optional(), scopes: scopes.optional() })
  .meta({ id: 'NewApiKey' });
const rotation = z
  .strictObject({ overlap_s: z.int().min(0).max(OVERLAP_AT_MOST_S).describe('Seconds in which both keys work') })
  .meta({ id: 'KeyRotation' });
const keyList = z.object({ items: z.array(keyView) }).meta({ id: 'ApiKeyList' });

/** A response that contains a key must not be cached. */
const created = (description: string): ResponseDoc => ({
  description,
  schema: createdKey,
  example: exampleCreatedKey,
  headers: ['Cache-Control'],
});

export const createKeyRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'createKey',
      method: 'post',
      path: '/admin/v1/keys',
      summary: 'Creates an API key',
      description: 'A key without a named subject gets a new one: keys of one subject share tasks, quota and limits.',
      tag: 'Keys',
      audience: 'admin',
      headers: operatorHeaders,
      body: newKey,
      bodyExample: { name: 'yard cameras', subject: 'acme' },
      responses: { 201: created('The key; its text is shown here only') },
      refusalExamples: () => [operatorInvalid()],
    },
    async ({ body, req }) => {
      const { key, ...row } = await createKey(deps, { ...body, actor: actorOf(req) });
      return { status: 201, body: { ...toKeyView(row), key }, headers: { 'Cache-Control': 'no-store' } };
    },
  );

export const listKeysRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'listKeys',
      method: 'get',
      path: '/admin/v1/keys',
      summary: 'Lists API keys, newest first',
      tag: 'Keys',
      audience: 'admin',
      query: z.strictObject({
        subject: subject.optional(),
        id_prefix: z
          .string()
          .regex(/^[0-9a-f]{1,16}$/, 'up to 16 hexadecimal digits')
          .optional()
          .describe('First characters of the id, which follows `vk_` in the key'),
      }),
      responses: {
        200: { description: 'Keys without their text', schema: keyList, example: { items: [exampleKeyView] } },
      },
    },
    async ({ query }) => ({
      status: 200,
      body: {
        items: (await listKeys(deps, { subject: query.subject, idPrefix: query.id_prefix })).map((row) =>
          toKeyView(row),
        ),
      },
    }),
  );

export const revokeKeyRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'revokeKey',
      method: 'delete',
      path: '/admin/v1/keys/{key_id}',
      summary: 'Revokes an API key',
      description: 'Takes effect on all replicas within 10 s, usually within 1 s. A repeat changes nothing.',
      tag: 'Keys',
      audience: 'admin',
      headers: operatorHeaders,
      params: keyPath,
      responses: { 204: { description: 'Revoked' } },
      refusalExamples: () => [operatorInvalid()],
    },
    async ({ params, req }) => {
      await revokeKey(deps, { keyId: params.key_id, actor: actorOf(req) });
      return { status: 204 };
    },
  );

export const rotateKeyRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'rotateKey',
      method: 'post',
      path: '/admin/v1/keys/{key_id}/rotate',
      summary: 'Creates a second key with the same subject and scopes; the first one ends after the overlap',
      tag: 'Keys',
      audience: 'admin',
      headers: operatorHeaders,
      params: keyPath,
      body: rotation,
      bodyExample: { overlap_s: 3600 },
      responses: { 201: created('The new key; its text is shown here only') },
      refusalExamples: () => [operatorInvalid(), keyEnded()],
    },
    async ({ params, body, req }) => {
      const input = { keyId: params.key_id, overlapS: body.overlap_s, actor: actorOf(req) };
      const { key, ...row } = await rotateKey(deps, input);
      return { status: 201, body: { ...toKeyView(row), key }, headers: { 'Cache-Control': 'no-store' } };
    },
  );
