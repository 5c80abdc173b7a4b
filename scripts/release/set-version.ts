import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Locked {
  version?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

/** Writes a version into everything that has that of the repository, and into nothing of others. */
export function setVersion(root: string, version: string): void {
  if (!/^\d+\.\d+\.\d+(-dev)?$/.test(version)) throw new Error(`${version} is no version: 1.2.3 or 1.2.3-dev`);
  const old = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
  const workspaces = globSync('{packages,services}/*', { cwd: root });
  const change = (file: string, changed: (text: string) => string) => {
    const path = join(root, file);
    writeFileSync(path, changed(readFileSync(path, 'utf8')));
  };
  for (const folder of ['.', ...workspaces]) {
    change(join(folder, 'package.json'), (text) =>
      text
        .replace(`"version": "${old}"`, `"version": "${version}"`)
        .replaceAll(/("@vision\/[\w-]+": )"\d[^"]*"/g, `$1"${version}"`),
    );
  }
  change('package-lock.json', (text) => lockOf(text, ['', ...workspaces], version));
  change('charts/vision/Chart.yaml', (text) =>
    text
      .replaceAll(/^((?:version|appVersion): ).+$/gm, `$1${version}`)
      .replaceAll(/(image: vision\/\w+:)\S+/g, `$1${version}`),
  );
  // What Python calls a development release (PEP 440).
  change('clients/python/pyproject.toml', (text) =>
    text.replace(/^version = ".*"$/m, `version = "${version.replace(/-dev$/, '.dev0')}"`),
  );
}

function lockOf(text: string, ours: readonly string[], version: string): string {
  const lock = JSON.parse(text) as { version: string; packages: Record<string, Locked> };
  lock.version = version;
  for (const name of ours) {
    const locked = lock.packages[name] ?? {};
    if (locked.version !== undefined) locked.version = version;
    for (const wanted of [locked.dependencies ?? {}, locked.devDependencies ?? {}])
      for (const other of Object.keys(wanted)) if (other.startsWith('@vision/')) wanted[other] = version;
  }
  return `${JSON.stringify(lock, null, 2)}\n`;
}
