import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import { z } from 'zod';

/** Setting of every service that opens https streams: who probes one has to trust it like who reads it. */
export const streamCertificatesConfig = {
  STREAM_CA_FILE: z
    .string()
    .optional()
    .describe('PEM file with certificate authorities for https streams, in addition to those of Node.js'),
};

/**
 * Certificates (PEM) to trust for streams: those of Node.js and those of the file.
 * @returns undefined without a file: the certificates of Node.js alone. @throws Error when the file cannot be read.
 */
export function streamCertificates(file: string | undefined): string | undefined {
  return file === undefined ? undefined : [...rootCertificates, readFileSync(file, 'utf8')].join('\n');
}
