import type { IncomingMessage } from 'node:http';
import { fail } from '@vision/shared/errors';

/** Refuses headers about the transfer that Node would answer without a problem document, or would ignore. */
export function refuseOddHeaders(req: IncomingMessage): void {
  const { expect, host, 'transfer-encoding': coding } = req.headers;
  if (host === undefined && req.httpVersion === '1.1') {
    throw fail.requestInvalid('host_missing', 'Send the header Host.', { field: 'Host' });
  }
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    throw fail.requestInvalid('expectation_unknown', 'The only supported expectation is 100-continue.', {
      field: 'Expect',
    });
  }
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw fail.requestInvalid('transfer_encoding_unsupported', 'The only supported transfer coding is chunked.', {
      field: 'Transfer-Encoding',
    });
  }
}
