import { z } from 'zod';
import { fail } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';
import { issueConsoleCode } from '../../use-cases/console-session.ts';
import type { Deps } from '../../use-cases/deps.ts';
import { subject } from './schemas.ts';

const newCode = z.strictObject({ subject }).meta({ id: 'NewConsoleCode' });
const issued = z
  .object({
    code: z.string().describe('For the fragment of the address of the console: `/console/#code=<code>`'),
    expires_at: z.iso.datetime(),
  })
  .meta({ id: 'ConsoleCode' });

export const createConsoleCodeRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'createConsoleCode',
      method: 'post',
      path: '/admin/v1/console-codes',
      summary: 'Creates a code that signs in to the console once, within a minute',
      description:
        'Only with CONSOLE_ONE_TIME, on the machine of the gateway. The console gets a new key of the subject, which ' +
        'expires after 12 hours.',
      tag: 'Keys',
      audience: 'admin',
      body: newCode,
      bodyExample: { subject: 'acme' },
      responses: {
        201: {
          description: 'The code; it is shown here only',
          schema: issued,
          example: {
            code: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
            expires_at: '2026-03-15T08:31:00.000Z',
          },
          headers: ['Cache-Control'],
        },
      },
      refusalExamples: () => [fail.notFound('One-time sign-ins are off (CONSOLE_ONE_TIME).', 'console_codes_off')],
    },
    ({ body }) => {
      const { code, endsAt } = issueConsoleCode(deps, body.subject);
      return Promise.resolve({
        status: 201,
        body: { code, expires_at: new Date(endsAt).toISOString() },
        headers: { 'Cache-Control': 'no-store' },
      });
    },
  );
