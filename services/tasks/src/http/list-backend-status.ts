import { listBackendStatus } from '@vision/contracts/status';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';

export const listBackendStatusRoute = ({ backendStatus }: Pick<Deps, 'backendStatus'>) =>
  route(
    {
      ...listBackendStatus,
      operation: 'listBackendStatus',
      summary: 'Returns the status of each replica of the inference backend',
      audience: 'internal',
      responses: { 200: { description: 'Returned also if no replica answers', schema: listBackendStatus.reply } },
    },
    async () => ({ status: 200, body: { items: await backendStatus.read() } }),
  );
