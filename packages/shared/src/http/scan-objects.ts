import { scanObjects as question } from '../contracts/objects.ts';
import type { ObjectScan, ScanPage } from '../contracts/objects.ts';
import { route } from './route.ts';
import type { Route } from './route.ts';

/** Compares what the rows of a service name with what the bucket holds, page by page. */
export const scanObjectsRoute = (operation: string, scan: (page: ScanPage) => Promise<ObjectScan>): Route =>
  route(
    {
      ...question,
      operation,
      summary: 'Find rows whose object is not in the bucket',
      audience: 'internal',
      responses: { 200: { description: 'One page', schema: question.reply } },
    },
    async ({ body }) => ({ status: 200, body: await scan(body) }),
  );
