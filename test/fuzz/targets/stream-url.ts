import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { AppError } from '@vision/contracts/errors';
import { createAddressPolicy } from '@vision/shared/net/address-policy';
import { credentialsOf, parseStreamUrl } from '@vision/streams/stream-url';
import type { StreamUrl } from '@vision/streams/stream-url';
import { attempt } from '../properties.ts';
import type { FuzzTarget } from '../target.ts';

const policy = createAddressPolicy();
const refusal = { by: AppError, reasons: ['stream_url_invalid'] };

/** Stream addresses: what is accepted, another parser reads in the same way, and it names no forbidden host. */
export const target: FuzzTarget = {
  maxBytes: 2100,
  check: (input) => {
    const text = input.toString('latin1');
    const outcome = attempt(() => parseStreamUrl(text, policy), refusal);
    if ('refused' in outcome) return;
    const url = outcome.read;
    assert.deepEqual(parseStreamUrl(url.href, policy), url);
    checkHost(url);
    checkAgainstUrl(url);
    const { user, password } = credentialsOf(url) ?? { user: '', password: '' };
    assert.deepEqual([user, password], [url.user, url.password]);
    assert.equal(url.label, `${url.scheme}://${isIP(url.host) === 6 ? `[${url.host}]` : url.host}`);
  },
};

function checkHost({ host, port }: StreamUrl): void {
  policy.checkLiteral(host);
  policy.checkPort({ host, port });
  const kind = isIP(host);
  if (kind > 0) assert.ok(policy.allows(host), 'a forbidden address');
  else assert.match(host, /^[a-z0-9_.-]+$/);
  assert.doesNotMatch(host, /(^|\.)localhost\.?$/);
}

/** The WHATWG parser knows only some schemes well, so it is asked as for a web address. */
function checkAgainstUrl({ scheme, href, host, port, user, password, pathAndQuery }: StreamUrl): void {
  const isWeb = scheme === 'http' || scheme === 'https';
  const url = new URL(isWeb ? href : href.replace(/^[a-z]+:/, 'http:'));
  assert.equal(url.hostname.replace(/^\[(.*)\]$/, '$1'), host);
  const usual = isWeb ? (scheme === 'https' ? 443 : 80) : { rtsp: 554, rtmp: 1935 }[scheme];
  // For rtsp and rtmp the port that is left out is another one than for http, and :80 is dropped by URL.
  if (isWeb || port !== usual) assert.equal(Number(url.port || (scheme === 'https' ? 443 : 80)), port);
  assert.deepEqual([decodeURIComponent(url.username), decodeURIComponent(url.password)], [user, password]);
  assert.equal(url.hash, '');
  assert.ok(pathAndQuery.startsWith('/'));
}
