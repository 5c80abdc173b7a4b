import { scanObjects as question } from '@vision/contracts/objects';
import type { ObjectScan, ScanPage } from '@vision/contracts/objects';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';

/** Compares what the rows of a service name with what the bucket holds, page by page. */
export const scanObjectsRoute = (operation: string, scan: (page: ScanPage) => Promise<ObjectScan>): Route =>
  route(
    {
      ...question,
      operation,
      summary: 'Finds rows whose object is not in the bucket',
      audience: 'internal',
      responses: { 200: { description: 'One page', schema: question.reply } },
    },
    async ({ body }) => ({ status: 200, body: await scan(body) }),
  );
