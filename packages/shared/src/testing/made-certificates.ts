import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Paths of what one authority has certified, for servers at 127.0.0.1 and a name. */
export interface MadeCertificates {
  ca: string;
  server: { cert: string; key: string };
  client: { cert: string; key: string };
}

/** An authority, a server and a client, made by openssl in a folder. */
export function makeCertificates(dir: string, host = 'localhost'): MadeCertificates {
  mkdirSync(dir, { recursive: true });
  const path = (name: string) => join(dir, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'] });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-days',
    '2',
    '-subj',
    '/CN=test authority',
    '-keyout',
    'ca.key',
    '-out',
    'ca.crt',
  );
  const certify = (name: string, extensions: string) => {
    openssl('req', ...newKey, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`);
    writeFileSync(path(`${name}.ext`), extensions);
    const by = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', `${name}.ext`];
    openssl('x509', '-req', '-in', `${name}.csr`, ...by, '-out', `${name}.crt`);
    return { cert: path(`${name}.crt`), key: path(`${name}.key`) };
  };
  return {
    ca: path('ca.crt'),
    server: certify('server', `subjectAltName=IP:127.0.0.1,DNS:${host}\n`),
    client: certify('client', 'extendedKeyUsage=clientAuth\n'),
  };
}
