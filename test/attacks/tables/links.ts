import { randomUUID } from 'node:crypto';
import { system } from '../../support/system.ts';
import type { Answer, Caller } from '../../support/system.ts';
import type { Attack, AttackGroup } from '../attack.ts';
import { invalid, said } from '../say.ts';

const LINK_INVALID = '404 link_invalid';
const PATH_INVALID = invalid('link_path_invalid');
const video = () => `/v1/vision/tasks/${randomUUID()}/video`;

const link = (caller: Caller, path: string): Promise<Answer> =>
  caller.send('POST', '/v1/vision/links', {
    body: JSON.stringify({ path, expires_in_s: 60 }),
    headers: { 'content-type': 'application/json' },
  });

const created = (name: string, path: () => string): Attack => ({
  name: `a link to ${name}`,
  expected: PATH_INVALID,
  attempt: async ({ caller }) => said(await link(await caller(), path())),
});

/** What a stranger without a key gets for a changed link. */
const opened = (name: string, change: (token: string) => string): Attack => ({
  name: `a link ${name}`,
  expected: LINK_INVALID,
  attempt: async ({ caller }) => {
    const { body } = await link(await caller(), video());
    const token = String(body['url']).split('/').at(-1) ?? '';
    const answer = await fetch(`${system.baseUrl}/v1/vision/links/${change(token)}`);
    const { details } = (await answer.json()) as { details: { reason: string } };
    return `${answer.status} ${details.reason}`;
  },
});

const flipped = (token: string, at: number) =>
  token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);

export const links: AttackGroup = {
  title: 'Links',
  wanted: 'content of a tenant without its key, or another path than the tenant shared',
  withinMs: 30_000,
  atOnce: 4,
  attacks: [
    created('the task list', () => '/v1/vision/tasks'),
    created('an admin path', () => '/admin/v1/keys'),
    created('a path with dots', () => `/v1/vision/tasks/../tasks/${randomUUID()}/video`),
    created('an encoded path', () => video().replace('video', '%76ideo')),
    created('another host', () => `//attacker.example${video()}`),
    created('a path with a query', () => `${video()}?x=1`),
    opened('with its first character changed', (token) => flipped(token, 0)),
    opened('with its middle changed', (token) => flipped(token, token.length >> 1)),
    opened('without its end', (token) => token.slice(0, -4)),
    opened('with more behind it', (token) => `${token}AAAA`),
    opened('of 8 KiB', () => 'A'.repeat(8_000)),
    {
      name: 'a link to a task of another tenant',
      expected: '404 task_not_found',
      attempt: async ({ caller }) => {
        const { body } = await link(await caller(), video());
        const answer = await fetch(system.baseUrl + String(body['url']));
        const { details } = (await answer.json()) as { details: { reason: string } };
        return `${answer.status} ${details.reason}`;
      },
    },
  ],
};
