import { asUnavailable } from '../unavailable.ts';
import { away, codesOf, rootMessage, tlsFault, wrong } from '../start/fault.ts';
import type { Fault } from '../start/fault.ts';

const names = { store: 'the database server', address: 'DATABASE_URL', tls: 'DATABASE_TLS', ca: 'DATABASE_CA_FILE' };

/** Says in one sentence why a database cannot be used; undefined for errors that are not about the way there. */
export function databaseFault(error: unknown, address: string): Fault | undefined {
  const { host, username, pathname } = new URL(address);
  const database = pathname.slice(1);
  const at = `DATABASE_URL (${username}@${host}/${database})`;
  const message = rootMessage(error);
  const [code = ''] = codesOf(error);
  if (code === '28P01') return wrong(`PostgreSQL refuses the password of ${at}: look at it or at DATABASE_PASSWORD`);
  if (code.startsWith('28')) return wrong(`PostgreSQL does not let ${at} in: ${message}`);
  if (code === '3D000') return wrong(`There is no database "${database}" at ${at}`);
  if (code === '42501') return wrong(`The role of ${at} lacks rights: ${message}`);
  if (message.includes('does not support SSL'))
    return wrong(`PostgreSQL at ${at} does not speak TLS, and DATABASE_TLS, DATABASE_CA_FILE or sslmode asks for it`);
  const fault = tlsFault(error, names);
  if (fault) return fault;
  return asUnavailable(error) ? away(`PostgreSQL does not answer at ${at}: ${code || message}`) : undefined;
}
