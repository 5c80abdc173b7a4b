import { repairCounter as question } from '@vision/contracts/quota';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { repairCounter } from '../use-cases/repair-counter.ts';

export const repairCounterRoute = (deps: Pick<Deps, 'db' | 'signals'>) =>
  route(
    {
      ...question,
      operation: 'repairCounter',
      summary: 'Corrects a counter from its reservations',
      audience: 'internal',
      responses: { 200: { description: 'Values before and after', schema: question.reply } },
    },
    async ({ body: { who, reason, ...counter } }) => ({
      status: 200,
      body: await repairCounter(deps, counter, { who, reason }),
    }),
  );
