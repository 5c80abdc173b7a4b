/** What an API key can be limited to. A key without scopes of its own has all of them, those to come included. */
export const keyScopes = ['read', 'create', 'notify'] as const;
export type KeyScope = (typeof keyScopes)[number];

/** What an operation requires; `any` of one that every key may call, whatever its scopes. */
export type RequiredScope = KeyScope | 'any';

/** The required scope that a key with these scopes lacks; undefined when it can call. Without scopes it has all. */
export function lackingScope(scopes: readonly string[] | undefined, required: RequiredScope): KeyScope | undefined {
  if (required === 'any' || scopes === undefined || scopes.includes(required)) return undefined;
  return required;
}
