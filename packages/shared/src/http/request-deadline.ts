import type { IncomingMessage } from 'node:http';
import type { Response } from 'express';
import { createDeadline, deadlineHeader, readDeadline, withDeadline } from '../upstream/deadline.ts';
import { UpstreamTimeoutError } from '../upstream/ended-call.ts';

/**
 * Runs what answers a request under the deadline it carries, when a service of ours sent it. The time counts from when
 * the body is there. Where the deadline binds, `ending` aborts the work, and the answer does not wait for it.
 * @throws UpstreamTimeoutError `deadline_exceeded` when the time is over.
 */
export function underDeadline<T>(
  { req, res, isBinding, ending }: { req: IncomingMessage; res: Response; isBinding: boolean; ending: AbortController },
  work: () => Promise<T>,
): Promise<T> {
  const budgetMs = res.locals['isServiceCall'] === true ? readDeadline(req.headers[deadlineHeader]) : undefined;
  if (budgetMs === undefined) return work();
  const deadline = createDeadline(budgetMs, isBinding);
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const start = () => {
    deadline.start();
    if (!isBinding) return;
    timer = setTimeout(() => {
      const late = new UpstreamTimeoutError('deadline_exceeded', budgetMs);
      ending.abort(late);
      over.reject(late);
    }, budgetMs);
  };
  if (hasWholeBody(req)) start();
  else req.once('end', start);
  // eslint-disable-next-line no-restricted-syntax -- what goes on ends with the signal, or is a read
  return Promise.race([withDeadline(deadline, work), over.promise]).finally(() => {
    clearTimeout(timer);
    req.off('end', start);
  });
}

function hasWholeBody({ complete, headers }: IncomingMessage): boolean {
  return complete || (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0);
}
