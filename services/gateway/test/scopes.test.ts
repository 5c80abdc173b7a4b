import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { publicOperations, scopeOf } from '@vision/contracts/public-operations';
import type { KeyScope } from '@vision/contracts/scopes';
import { createTokenVerifier } from '@vision/shared/http/service-token';
import { serviceKeyConfig } from '@vision/shared/service-keys';
import { testPublicKeys } from '@vision/shared/testing/service-keys';
import { bearer, exchange, refusal, startGateway } from './support/gateway.ts';
import type { TestGateway } from './support/gateway.ts';
import { valuesOf } from './support/upstream.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

async function keyWith(scopes?: KeyScope[]): Promise<string> {
  const made = await gateway.admin('POST', '/admin/v1/keys', { name: 'wallboard', ...(scopes ? { scopes } : {}) });
  expect([made.status, made.body['scopes']]).toEqual([201, scopes]);
  return String(made.body['key']);
}

const everything = publicOperations.map(({ operation, method, path }) => ({
  operation,
  method: method.toUpperCase(),
  path: path.replaceAll(/\{\w+\}/g, randomUUID()),
}));

const ask = async (key: string, { method, path }: { method: string; path: string }) =>
  exchange(gateway.url + path, method, { headers: bearer(key) });

test.each([[['read']], [['create']], [['notify']], [['read', 'notify']]] as [KeyScope[]][])(
  'a key with the scopes %s reaches the operations of these scopes and no other',
  async (scopes) => {
    const key = await keyWith(scopes);
    for (const one of everything) {
      const scope = scopeOf(one.operation) as KeyScope | undefined;
      const answer = await ask(key, one);
      if (scope && scopes.includes(scope)) expect([one.operation, answer.status]).toEqual([one.operation, 200]);
      else {
        expect([one.operation, ...refusal(answer)]).toEqual([one.operation, 403, undefined, 'scope_missing']);
        expect(answer.body['details']).toMatchObject({ scope });
      }
    }
    const allowed = everything.filter(({ operation }) => scopes.includes(scopeOf(operation) as KeyScope));
    expect(gateway.upstream.seen).toHaveLength(allowed.length);
  },
);

test('keys without scopes of their own, also earlier ones, reach everything', async () => {
  const key = await keyWith();
  for (const one of everything) expect((await ask(key, one)).status).toBe(200);
});

test.each<[KeyScope[] | undefined, string[]]>([
  [undefined, ['read', 'create', 'notify']],
  [['create'], ['create']],
  [
    ['read', 'notify'],
    ['read', 'notify'],
  ],
])('a key with the scopes %j receives them, with any scopes', async (scopes, told) => {
  const key = await keyWith(scopes);
  const { status, body } = await ask(key, { method: 'GET', path: '/v1/vision/key' });
  expect([status, body]).toEqual([200, { key_id: key.slice(3, 19), scopes: told }]);
  expect(gateway.upstream.seen).toHaveLength(0);
});

test('the token for the next service carries the scopes', async () => {
  const verifier = createTokenVerifier('tasks', serviceKeyConfig.SERVICE_PUBLIC_KEYS.parse(testPublicKeys));
  const scopesOf = async (key: string) => {
    await ask(key, { method: 'GET', path: '/v1/vision/tasks' });
    const [value = ''] = valuesOf(gateway.upstream.last().rawHeaders, 'authorization');
    return (await verifier.verify(value.replace('Bearer ', ''))).scopes;
  };
  expect(await scopesOf(await keyWith(['read']))).toEqual(['read']);
  expect(await scopesOf(await keyWith())).toBeUndefined();
});

test('a rotated key keeps its scopes, and the list and the audit log show them', async () => {
  const key = await keyWith(['read']);
  const keyId = key.slice(3, 19);
  const rotated = await gateway.admin('POST', `/admin/v1/keys/${keyId}/rotate`, { overlap_s: 60 });
  expect(rotated.body['scopes']).toEqual(['read']);
  const refused = await ask(String(rotated.body['key']), { method: 'POST', path: '/v1/vision/tasks' });
  expect(refusal(refused)).toEqual([403, undefined, 'scope_missing']);
  const listed = await gateway.admin('GET', `/admin/v1/keys?id_prefix=${keyId}`);
  expect(listed.body['items']).toMatchObject([{ scopes: ['read'] }]);
  const audit = await gateway.database
    .db('audit_log')
    .where({ action: 'key.create', target: keyId })
    .select<{ details: object }[]>('details');
  expect(audit).toMatchObject([{ details: { scopes: ['read'] } }]);
});

test.each([[[]], [['admin']], [['read', 'read']], ['read'], [{}], [null], [['read', 5]]])(
  'no key is made with the scopes %j',
  async (scopes) => {
    const headers = { ...bearer('admin-token-admin-token'), 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'odd', scopes });
    const answer = await exchange(`${gateway.adminUrl}/admin/v1/keys`, 'POST', { headers, body });
    expect(refusal(answer)).toEqual([400, 'OP-TASK-REQUEST-INVALID', 'body_invalid']);
  },
);
