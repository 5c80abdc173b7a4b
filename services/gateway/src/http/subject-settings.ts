import { z } from 'zod';
import { snapshotMode } from '@vision/contracts/create-query';
import { route } from '@vision/shared/http/route';
import { readSettings } from '../use-cases/get-settings.ts';
import { putSettings } from '../use-cases/put-settings.ts';
import type { Deps } from '../use-cases/deps.ts';

const settings = z
  .strictObject({
    snapshots: snapshotMode.describe(
      '`tracks`: new video tasks store an image of each track and, for streams, answer live snapshots. `off`: neither',
    ),
  })
  .meta({ id: 'Settings', description: 'Settings of the subject of the API key' });

const example = { snapshots: 'tracks' as const };

type SettingsDeps = Pick<Deps, 'db' | 'keyCache' | 'settings'>;

export const getSettingsRoute = (deps: SettingsDeps) =>
  route(
    {
      operation: 'getSettings',
      method: 'get',
      path: '/v1/vision/settings',
      summary: 'Returns the settings of the subject',
      tag: 'Account',
      audience: 'public',
      responses: { 200: { description: 'Settings', schema: settings, example } },
    },
    async ({ caller }) => ({ status: 200, body: await readSettings(deps, caller.subject) }),
  );

export const putSettingsRoute = (deps: SettingsDeps) =>
  route(
    {
      operation: 'putSettings',
      method: 'put',
      path: '/v1/vision/settings',
      summary: 'Changes the settings of the subject',
      description:
        'Applies to tasks that are created afterwards, by any API key of the subject; tasks keep the settings that they ' +
        'were created with. Takes effect within a few seconds. Repeatable.',
      tag: 'Account',
      audience: 'public',
      body: settings,
      bodyExample: example,
      responses: { 200: { description: 'Settings after the change', schema: settings, example } },
    },
    async ({ caller, body, res }) => {
      const keyId = String(res.locals['keyId']);
      await putSettings(deps, { subject: caller.subject, keyId, snapshots: body.snapshots });
      return { status: 200, body };
    },
  );
