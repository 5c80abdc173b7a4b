import type { IncomingMessage } from 'node:http';
import { fail } from '@vision/shared/errors';

/** `Expect` knows one value; Node answers others with a bare 417, which no caller of this API expects. */
export function refuseOddExpectation(req: IncomingMessage): void {
  const { expect } = req.headers;
  if (expect === undefined || expect.toLowerCase() === '100-continue') return;
  throw fail.requestInvalid('expectation_unknown', 'The only supported expectation is 100-continue.', {
    field: 'Expect',
  });
}
