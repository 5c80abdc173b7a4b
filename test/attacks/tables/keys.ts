import { randomBytes } from 'node:crypto';
import { until } from '@vision/shared/testing/until';
import { admin, Caller, system } from '../../support/system.ts';
import type { Answer } from '../../support/system.ts';
import type { Attack, AttackGroup } from '../attack.ts';
import { openRaw, rawRequest, saidOn, sendRaw } from '../raw-http.ts';
import type { RawOptions } from '../raw-http.ts';
import { unsigned } from '../service-tokens.ts';
import { counted, MISSING_KEY, NO_KEY, said } from '../say.ts';

const last = 'Connection: close';

/** Asks for the tasks with these headers in place of a key. */
function presented(name: string, expected: string, headersFor: (key: string) => string[]): Attack {
  return {
    name,
    expected,
    attempt: async (target) => {
      const { key } = await target.caller();
      return sendRaw(rawRequest('GET /v1/vision/tasks HTTP/1.1', ['Host: x', ...headersFor(key), last]));
    },
  };
}

const changed = (key: string, at: number) =>
  key.slice(0, at) + (key.at(at) === 'a' ? 'b' : 'a') + key.slice(at < 0 ? key.length + at + 1 : at + 1);

export const keys: AttackGroup = {
  title: 'Keys',
  wanted: 'the tasks of a tenant without its key',
  withinMs: 10_000,
  atOnce: 8,
  attacks: [
    presented('no key', MISSING_KEY, () => []),
    presented('an empty key', NO_KEY, () => ['Authorization: Bearer']),
    presented('another scheme', NO_KEY, (key) => [`Authorization: Basic ${Buffer.from(`${key}:`).toString('base64')}`]),
    presented('a key without a scheme', NO_KEY, (key) => [`Authorization: ${key}`]),
    presented('the key in another header', MISSING_KEY, (key) => [`X-Api-Key: ${key}`, `Cookie: key=${key}`]),
    presented('two keys', NO_KEY, (key) => [`Authorization: Bearer ${key}`, `Authorization: Bearer ${key}`]),
    presented('two keys in one header', NO_KEY, (key) => [`Authorization: Bearer ${key}, Bearer ${key}`]),
    presented('a key whose last character is another', NO_KEY, (key) => [`Authorization: Bearer ${changed(key, -1)}`]),
    presented('a key whose middle is another', NO_KEY, (key) => [`Authorization: Bearer ${changed(key, 30)}`]),
    presented('a key in capitals', NO_KEY, (key) => [`Authorization: Bearer ${key.toUpperCase()}`]),
    presented('a key with more behind it', NO_KEY, (key) => [`Authorization: Bearer ${key}x`]),
    presented('a key of 15 KiB', NO_KEY, (key) => [`Authorization: Bearer ${key}${'x'.repeat(15_000)}`]),
    presented('SQL', NO_KEY, () => [`Authorization: Bearer ' or '1'='1`]),
    presented('bytes beyond ASCII', NO_KEY, (key) => [`Authorization: Bearer ${key}\xff\xfe`]),
    presented('the token of the admin API', NO_KEY, () => [`Authorization: Bearer ${system.adminToken}`]),
    presented('an unsigned token between services', NO_KEY, () => [`Authorization: Bearer ${unsigned()}`]),
    ...(['POST /v1/vision/tasks', 'POST /v1/vision/video-tasks', 'POST /v1/vision/image-detections'] as const).map(
      (line): Attack => ({
        name: `${line} with a key that may only read`,
        expected: '403 scope_missing',
        attempt: async (target) => {
          const { subject } = await target.caller();
          const made = await admin('POST', '/admin/v1/keys', { name: 'reader', subject, scopes: ['read'] });
          const own = [`Authorization: Bearer ${String(made.body['key'])}`, 'Content-Length: 0'];
          return sendRaw(rawRequest(`${line} HTTP/1.1`, ['Host: x', ...own, last]));
        },
      }),
    ),
    {
      name: 'the key in the query',
      expected: MISSING_KEY,
      attempt: async (target) => {
        const { key } = await target.caller();
        return sendRaw(rawRequest(`GET /v1/vision/tasks?key=${key}&access_token=${key} HTTP/1.1`, ['Host: x', last]));
      },
    },
    {
      name: 'the first half of one key and the second half of another',
      expected: NO_KEY,
      attempt: async (target) => {
        const [one, other] = [await target.caller(), await target.caller()];
        const cut = one.key.lastIndexOf('_');
        return said(await new Caller(one.key.slice(0, cut) + other.key.slice(cut), '').get('/v1/vision/usage'));
      },
    },
    {
      name: 'a key that was revoked, within two seconds',
      expected: NO_KEY,
      attempt: async (target) => {
        const caller = await target.caller();
        const made = await admin('POST', '/admin/v1/keys', { name: 'attacks', subject: caller.subject });
        const second = new Caller(String(made.body['key']), caller.subject);
        await second.get('/v1/vision/usage');
        await admin('DELETE', `/admin/v1/keys/${String(made.body['key_id'])}`);
        let answer: Answer = await second.get('/v1/vision/usage');
        await until(
          async () => {
            answer = await second.get('/v1/vision/usage');
            return answer.status === 401;
          },
          { timeoutMs: 2_000 },
        );
        return said(answer);
      },
    },
  ],
};

/** The form of a key, so that the store is asked for it. */
const guess = () => `vk_${randomBytes(8).toString('hex')}_${randomBytes(32).toString('base64url')}`;

/** One request after the other on one connection, which comes from an address of its own. */
async function guesses(count: number, line: string, tokenOf: () => string, options: RawOptions): Promise<string> {
  const words: string[] = [];
  for (let done = 0; done < count; done += PER_CONNECTION) {
    const socket = await openRaw(options);
    const heard = saidOn(socket);
    const until = Math.min(count, done + PER_CONNECTION);
    for (let index = done + 1; index <= until; index += 1) {
      const headers = ['Host: x', `Authorization: Bearer ${tokenOf()}`, ...(index === until ? [last] : [])];
      socket.write(rawRequest(line, [...headers, `X-Forwarded-For: 203.0.113.${index % 250}`]));
    }
    words.push(...(await heard).split(', then '));
  }
  return counted(words);
}

/** A connection on which more requests wait is cut. */
const PER_CONNECTION = 25;

const USAGE = 'GET /v1/vision/usage HTTP/1.1';
const ADMIN_KEYS = 'GET /admin/v1/keys HTTP/1.1';

export const guessing: AttackGroup = {
  title: 'Guessing',
  wanted: 'a key or the admin token, by trying, or a tenant that is locked out',
  withinMs: 20_000,
  atOnce: 4,
  attacks: [
    {
      name: '200 wrong keys from one address, each said to come from elsewhere',
      expected: `120 × ${NO_KEY}, 80 × 429 OP-QUOTA-RATE-LIMITED too_many_invalid_keys`,
      attempt: () => guesses(200, USAGE, guess, { from: '127.88.0.1' }),
    },
    {
      name: '200 wrong keys from the address of an honest tenant',
      expected: '200',
      attempt: async (target) => {
        const { key } = await target.caller();
        await guesses(200, USAGE, guess, { from: '127.88.0.2' });
        return guesses(1, USAGE, () => key, { from: '127.88.0.2' }).then((seen) => seen.replace('1 × ', ''));
      },
    },
    {
      name: '30 wrong tokens for the admin API',
      expected: '10 × 401 OP-AUTH-REQUIRED token_invalid, 20 × 429 OP-QUOTA-RATE-LIMITED too_many_invalid_tokens',
      attempt: () => guesses(30, ADMIN_KEYS, guess, { url: system.adminUrl, from: '127.88.0.3' }),
    },
    {
      name: 'the right token for the admin API behind 30 wrong ones',
      expected: '1 × 200',
      attempt: async () => {
        const from = { url: system.adminUrl, from: '127.88.0.4' };
        await guesses(30, ADMIN_KEYS, guess, from);
        return guesses(1, ADMIN_KEYS, () => system.adminToken, from);
      },
    },
    {
      name: 'an API key for the admin API',
      expected: '401 OP-AUTH-REQUIRED token_invalid',
      attempt: async (target) => {
        const { key } = await target.caller();
        const headers = ['Host: x', `Authorization: Bearer ${key}`, last];
        return sendRaw(rawRequest(ADMIN_KEYS, headers), { url: system.adminUrl, from: '127.88.0.5' });
      },
    },
    {
      name: 'the beginning of the token for the admin API',
      expected: '401 OP-AUTH-REQUIRED token_invalid',
      attempt: async () => {
        const headers = ['Host: x', `Authorization: Bearer ${system.adminToken.slice(0, -1)}`, last];
        return sendRaw(rawRequest(ADMIN_KEYS, headers), { url: system.adminUrl, from: '127.88.0.6' });
      },
    },
  ],
};
