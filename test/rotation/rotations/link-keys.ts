import { randomBytes, randomUUID } from 'node:crypto';
import { system } from '../../support/system.ts';
import type { Rotation, Stage } from '../rotation.ts';

/** Keys of links that need no API key. A link of the old key is opened after each step until the key is removed. */
export function linkKeys({ world, createCaller }: Stage): Rotation {
  const old = world.secrets.LINK_KEYS;
  const next = `2:${randomBytes(32).toString('base64')}`;
  const services = ['gateway'] as const;
  let url = '';
  // The task of the link does not exist; `task_not_found` shows that the link was opened.
  const reasonOf = async () => {
    const answer = await fetch(system.baseUrl + url);
    return ((await answer.json()) as { details?: { reason?: string } }).details?.reason;
  };
  const isOpen = async () => {
    const reason = await reasonOf();
    if (reason !== 'task_not_found') throw new Error(`a link of the old key is answered ${String(reason)}`);
  };
  return {
    name: 'link-keys',
    says: 'Keys of links (`LINK_KEYS`)',
    steps: [
      {
        says: 'append the new one',
        services,
        secrets: () => ({ LINK_KEYS: `${old},${next}` }),
        before: async () => {
          const made = await (
            await createCaller()
          ).send('POST', '/v1/vision/links', {
            body: JSON.stringify({ path: `/v1/vision/tasks/${randomUUID()}/video`, expires_in_s: 86_400 }),
            headers: { 'content-type': 'application/json' },
          });
          url = String(made.body['url']);
        },
        after: isOpen,
      },
      {
        says: 'move it to the front',
        services,
        secrets: () => ({ LINK_KEYS: `${next},${old}` }),
        after: isOpen,
      },
      {
        says: 'take the old one out when its last link has expired',
        services,
        secrets: () => ({ LINK_KEYS: next }),
      },
    ],
    stillOpen: async () => {
      const reason = await reasonOf();
      return reason === 'link_invalid' ? [] : [`a link of the old key is answered ${String(reason)}`];
    },
  };
}
