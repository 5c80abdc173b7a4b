import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const serviceNames = ['gateway', 'tasks', 'images', 'results', 'quota', 'notify', 'inference'];

/** Imports a module of a service; undefined when the service has none at that path. */
export async function importFrom(root: string, service: string, path: string): Promise<object | undefined> {
  const file = join(root, 'services', service, 'src', path);
  return existsSync(file) ? ((await import(file)) as object) : undefined;
}
