import assert from 'node:assert/strict';
import { bearerToken } from '@vision/shared/http/authenticate';
import { keyIdOf } from '../../../services/gateway/src/domain/api-key.ts';
import { clientNetwork, networkOf, parseTrusted } from '../../../services/gateway/src/domain/client-network.ts';
import { maskKeys } from '../../../services/gateway/src/domain/mask-keys.ts';
import type { FuzzTarget } from '../target.ts';

const isTrusted = parseTrusted(['loopback', 'uniquelocal']);
const KEY = /vk_[0-9a-f]{16}_[A-Za-z0-9_-]{43}/i;

/** Texts in which keys and addresses come: no key is left for a log, and every address counts for one network. */
export const target: FuzzTarget = {
  maxBytes: 4096,
  check: (input) => {
    const text = input.toString('latin1');
    const token = bearerToken(['Authorization', text]);
    if (token !== undefined) assert.match(token, /^[!-~]{1,4096}$/);
    const id = keyIdOf(token ?? text);
    if (id !== undefined) assert.match(id, /^[0-9a-f]{16}$/);
    const masked = maskKeys(text);
    assert.doesNotMatch(masked, KEY);
    assert.equal(maskKeys(masked), masked);
    const network = clientNetwork({ peer: '127.0.0.1', forwardedFor: text }, isTrusted);
    assert.match(network, /^(\d{1,3}(\.\d{1,3}){3}|[0-9a-f]{1,4}(:[0-9a-f]{1,4}){3}::\/64)$/);
    assert.equal(networkOf(networkOf(text).replace('/64', '')), networkOf(text));
  },
};
