import type { SourceReason } from '@vision/streams/source-error';
import type { AmfObject } from './amf0.ts';

const REASONS: readonly [RegExp, SourceReason][] = [
  [/^NetStream\.Play\.(StreamNotFound|Failed|FileStructureInvalid)$/, 'not_found'],
  [/^NetConnection\.Connect\.InvalidApp$/, 'not_found'],
  [/Unauthori[sz]ed|Forbidden|AuthFailed|[Aa]uthori[sz]ation failed|authmod=|code=403/, 'auth_failed'],
];

/** Why a server refuses, by what it says. One that names another address to go to (`ex.redirect`) is not followed. */
export function reasonOfRefusal(info: AmfObject): SourceReason {
  const ex = info.get('ex');
  if (ex instanceof Map && (ex.has('redirect') || ex.get('code') === 302)) return 'redirect_refused';
  const texts = [info.get('code'), info.get('description')].filter((text) => typeof text === 'string');
  return REASONS.find(([pattern]) => texts.some((text) => pattern.test(text)))?.[1] ?? 'connection_failed';
}
