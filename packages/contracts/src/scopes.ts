/** Scopes that an API key can be limited to. A key without scopes has all of them, future ones included. */
export const keyScopes = ['read', 'create', 'notify'] as const;
export type KeyScope = (typeof keyScopes)[number];

/** Scope that an operation requires; `any`: a key with any scopes may call it. */
export type RequiredScope = KeyScope | 'any';

/** The required scope that a key with these scopes lacks; undefined when the call is allowed. */
export function lackingScope(scopes: readonly string[] | undefined, required: RequiredScope): KeyScope | undefined {
  if (required === 'any' || scopes === undefined || scopes.includes(required)) return undefined;
  return required;
}
