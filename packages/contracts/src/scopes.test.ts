import { expect, test } from '@jest/globals';
import { lackingScope } from './scopes.ts';

test.each([
  [undefined, 'create', undefined],
  [[], 'read', 'read'],
  [['read'], 'read', undefined],
  [['read'], 'create', 'create'],
  [['create', 'notify'], 'read', 'read'],
  [[], 'any', undefined],
  [['any'], 'notify', 'notify'],
] as const)('a key with the scopes %j lacks for an operation that requires %s: %s', (scopes, required, lacking) => {
  expect(lackingScope(scopes, required)).toBe(lacking);
});
