import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { findProgram } from '../../deploy/local/host-programs.ts';
import type { ServiceName } from '../../deploy/local/service-environment.ts';

const run = promisify(execFile);

/** Copies of the databases of services, as docs/restore.md takes them. */
export interface Copies {
  /** @returns the file */
  take: (service: ServiceName, name: string) => Promise<string>;
  /**
   * Puts a copy in the place of what the database holds; without one nothing. The database stays the same to its
   * server, as after a restore to an instant, so only what is in it tells that it was set back.
   */
  restore: (service: ServiceName, file: string | undefined) => Promise<void>;
  query: <T>(service: ServiceName, sql: string) => Promise<T[]>;
}

/** @param serverUrl of a role that may do everything */
export function createCopies(serverUrl: string, folder: string): Copies {
  mkdirSync(folder, { recursive: true });
  const bin = dirname(findProgram('postgres') ?? '');
  const urlOf = (service: ServiceName) => {
    const url = new URL(serverUrl);
    url.pathname = `/vision_${service}`;
    return url.href;
  };
  const query = async <T>(service: ServiceName, sql: string): Promise<T[]> => {
    const client = new Client({ connectionString: urlOf(service) });
    await client.connect();
    try {
      return (await client.query(sql)).rows as T[];
    } finally {
      await client.end();
    }
  };
  return {
    query,
    take: async (service, name) => {
      const file = join(folder, `${service}-${name}.dump`);
      await run(join(bin, 'pg_dump'), ['--format=custom', `--file=${file}`, `--dbname=${urlOf(service)}`]);
      return file;
    },
    restore: async (service, file) => {
      await query(
        service,
        `drop schema public cascade; create schema public; alter schema public owner to pg_database_owner`,
      );
      if (file === undefined) return;
      await run(join(bin, 'pg_restore'), ['--exit-on-error', `--dbname=${urlOf(service)}`, file]);
    },
  };
}
