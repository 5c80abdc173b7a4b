import { z } from 'zod';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';
import { listKeys } from '../../db/api-keys.ts';
import { createKey } from '../../use-cases/create-key.ts';
import type { OperatorDeps } from '../../use-cases/operator-deps.ts';
import { revokeKey } from '../../use-cases/revoke-key.ts';
import { rotateKey } from '../../use-cases/rotate-key.ts';
import { actorOf, createdKey, keyPath, keyView, subject, toKeyView, words } from './schemas.ts';

const OVERLAP_AT_MOST_S = 30 * 24 * 3600;

export const createKeyRoute = (deps: OperatorDeps): Route =>
  route(
    {
      operation: 'createKey',
      method: 'post',
      path: '/admin/v1/keys',
      summary: 'Create an API key',
      description: 'A key without a named subject gets a new one: keys of one subject share tasks, quota and limits.',
      audience: 'admin',
      body: z.strictObject({ name: words(100).min(1), subject: subject.optional() }),
      responses: { 201: { description: 'The key; its text is shown here only', schema: createdKey } },
    },
    async ({ body, req }) => {
      const { key, ...row } = await createKey(deps, { ...body, actor: actorOf(req) });
      return { status: 201, body: { ...toKeyView(row), key }, headers: { 'Cache-Control': 'no-store' } };
    },
  );

export const listKeysRoute = (deps: OperatorDeps): Route =>
  route(
    {
      operation: 'listKeys',
      method: 'get',
      path: '/admin/v1/keys',
      summary: 'List API keys, newest first',
      audience: 'admin',
      query: z.strictObject({ subject: subject.optional() }),
      responses: { 200: { description: 'Keys without their text', schema: z.object({ items: z.array(keyView) }) } },
    },
    async ({ query }) => ({
      status: 200,
      body: { items: (await listKeys(deps.db, query.subject)).map((row) => toKeyView(row)) },
    }),
  );

export const revokeKeyRoute = (deps: OperatorDeps): Route =>
  route(
    {
      operation: 'revokeKey',
      method: 'delete',
      path: '/admin/v1/keys/{key_id}',
      summary: 'Revoke an API key',
      description: 'In force everywhere within 10 s, usually within one. Repeating it changes nothing.',
      audience: 'admin',
      params: keyPath,
      responses: { 204: { description: 'Revoked' } },
    },
    async ({ params, req }) => {
      await revokeKey(deps, { keyId: params.key_id, actor: actorOf(req) });
      return { status: 204 };
    },
  );

export const rotateKeyRoute = (deps: OperatorDeps): Route =>
  route(
    {
      operation: 'rotateKey',
      method: 'post',
      path: '/admin/v1/keys/{key_id}/rotate',
      summary: 'Make a second key for the same subject; the first one ends after the overlap',
      audience: 'admin',
      params: keyPath,
      body: z.strictObject({
        overlap_s: z.int().min(0).max(OVERLAP_AT_MOST_S).describe('Seconds in which both keys work'),
      }),
      responses: { 201: { description: 'The new key; its text is shown here only', schema: createdKey } },
    },
    async ({ params, body, req }) => {
      const rotation = { keyId: params.key_id, overlapS: body.overlap_s, actor: actorOf(req) };
      const { key, ...row } = await rotateKey(deps, rotation);
      return { status: 201, body: { ...toKeyView(row), key }, headers: { 'Cache-Control': 'no-store' } };
    },
  );
