import { verifyLedger } from '@vision/contracts/quota';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { verify } from '../use-cases/verify.ts';

export const verifyRoute = (deps: Pick<Deps, 'db' | 'signals'>) =>
  route(
    {
      ...verifyLedger,
      operation: 'verifyLedger',
      summary: 'Recomputes every counter from the ledger and lists the differences',
      audience: 'internal',
      responses: { 200: { description: 'Empty `differences` means that all is well', schema: verifyLedger.reply } },
    },
    async () => ({ status: 200, body: await verify(deps) }),
  );
