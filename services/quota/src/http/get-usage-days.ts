import { z } from 'zod';
import { exampleUsageDays, usageDaysReply } from '@vision/contracts/quota';
import { refusalOf } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import { DEFAULT_DAYS, MAX_DAYS, dayRangeOf } from '../domain/day-range.ts';
import type { Deps } from '../use-cases/deps.ts';
import { getUsageDays } from '../use-cases/get-usage-days.ts';

const query = z.strictObject({
  from: z.iso
    .date()
    .optional()
    .describe(`First day, YYYY-MM-DD in UTC+8; default: ${DEFAULT_DAYS} days ending with \`to\``),
  to: z.iso.date().optional().describe('Last day, inclusive; default: today'),
});

export const getUsageDaysRoute = (deps: Pick<Deps, 'db' | 'settings'>) =>
  route(
    {
      operation: 'getUsageDays',
      method: 'get',
      path: '/v1/vision/usage/days',
      summary: 'Returns the quota usage of each day',
      description:
        `Covers at most ${MAX_DAYS} days. Refunded units are subtracted from the day they were charged on. Future days ` +
        'and days beyond the retention period are omitted.',
      tag: 'Account',
      audience: 'public',
      query,
      responses: {
        200: { description: 'Usage of each day, oldest first', schema: usageDaysReply, example: exampleUsageDays },
      },
      refusalExamples: () => [
        refusalOf(() =>
          dayRangeOf({ from: '2026-03-02', to: '2026-03-01' }, { today: '2026-03-15', first: '2026-01-01' }),
        ),
      ],
    },
    async ({ caller, query: asked }) => ({
      status: 200,
      body: { items: await getUsageDays(deps, { subject: caller.subject, ...asked }) },
    }),
  );
