import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** The path of a file with certificates (PEM); refused at the start when there are none in it. */
export const certificateFile = pemFile((text) => {
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (!found) throw new Error('holds no certificate');
  for (const certificate of found) new X509Certificate(certificate);
});

/** The path of a file with a private key (PEM) that needs no passphrase. */
export const privateKeyFile = pemFile((text) => void createPrivateKey(text));

function pemFile(check: (text: string) => void) {
  return z.string().superRefine((path, context) => {
    try {
      check(readFileSync(path, 'utf8'));
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException;
      const reason = code.startsWith('E') && !code.startsWith('ERR_') ? `cannot be read: ${code}` : message;
      context.addIssue({ code: 'custom', message: `a PEM file, but it ${reason}` });
    }
  });
}

/** Files that a TLS connection is made with. */
export interface TlsFiles {
  /** Authorities to trust instead of those of Node.js. */
  ca?: string | undefined;
  cert?: string | undefined;
  key?: string | undefined;
}

/** TLS settings whose files are read again for each connection, so that renewed certificates need no restart. */
export function tlsFromFiles(files: TlsFiles): { readonly ca?: string; readonly cert?: string; readonly key?: string } {
  const options = {};
  for (const name of ['ca', 'cert', 'key'] as const) {
    const path = files[name];
    if (path !== undefined)
      Object.defineProperty(options, name, { enumerable: true, get: () => readFileSync(path, 'utf8') });
  }
  return options;
}
