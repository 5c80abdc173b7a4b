import type { RequestHandler } from 'express';
import type { IncomingMessage } from 'node:http';
import { fail } from '@vision/contracts/errors';

/** As `refuseOddHeaders`, for listeners that do not require authentication first. */
export const oddHeadersRefused: RequestHandler = (req, _res, next) => {
  refuseOddHeaders(req);
  next();
};

/** Refuses transfer headers that Node would answer without a problem document, or would ignore. */
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

/** Refuses, before any other check, a head that a proxy in front may have understood in another way. */
export const refuseAmbiguousHead: RequestHandler = (req, _res, next) => {
  if (req.httpVersion !== '1.1' && req.httpVersion !== '1.0') {
    throw fail.requestInvalid('http_version_unsupported', 'Send the request as HTTP/1.1.');
  }
  const hosts = req.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length > 1) throw fail.requestInvalid('host_repeated', 'Send the header Host once.', { field: 'Host' });
  next();
};
