import type { RequestHandler } from 'express';
import { scopeOf } from '@vision/contracts/public-operations';
import { lackingScope } from '@vision/contracts/scopes';
import { fail } from '@vision/contracts/errors';
import type { Caller } from '@vision/shared/http/caller';

/**
 * Admits requests whose key has the scope of the operation.
 * @throws Error for an operation without a scope in `contracts/scopes.ts`, so that none is open by mistake.
 */
export function requireScope(operation: string): RequestHandler {
  const scope = scopeOf(operation);
  if (!scope) throw new Error(`${operation} has no scope in contracts/scopes.ts`);
  return (_req, res, next) => {
    const { scopes } = res.locals['caller'] as Caller;
    const lacking = lackingScope(scopes, scope);
    if (lacking) throw fail.scopeMissing(lacking);
    next();
  };
}
