import { build } from 'esbuild';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const source = join(import.meta.dirname, '../src');
/**
 * Bundles the console into a folder: index.html, and scripts and styles whose names hold a digest of their content.
 * Each file lies there plain and compressed, as the gateway compresses nothing.
 */
export async function buildConsole(folder: string): Promise<void> {
  const { outputFiles, metafile } = await build({
    entryPoints: { app: join(source, 'main.tsx'), style: join(source, 'styles/main.css') },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: ['es2023'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    conditions: ['@vision/source'],
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    outdir: folder,
    entryNames: '[name]-[hash]',
    logLevel: 'silent',
  });
  const names = Object.keys(metafile.outputs).map((path) => basename(path));
  const nameOf = (pattern: RegExp) => names.find((name) => pattern.test(name)) ?? '';
  const page = (await readFile(join(source, 'index.html'), 'utf8'))
    .replace('{script}', nameOf(/^app-.+\.js$/))
    .replace('{style}', nameOf(/^style-.+\.css$/));
  const files = [
    ...outputFiles.map(({ path, contents }) => ({ name: basename(path), contents })),
    { name: 'icon.svg', contents: await readFile(join(source, 'icon.svg')) },
    // Last: a gateway that starts meanwhile finds the old page or the new one, each with its files.
    { name: 'index.html', contents: Buffer.from(page) },
  ];
  await mkdir(folder, { recursive: true });
  const written = new Set<string>();
  for (const { name, contents } of files) {
    for (const [suffix, bytes] of await codingsOf(contents)) {
      await replaceFile(join(folder, name + suffix), bytes);
      written.add(name + suffix);
    }
  }
  for (const name of await readdir(folder)) if (!written.has(name)) await rm(join(folder, name), { force: true });
}

/** A reader finds the file before or after, never a part of it. */
async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
  const partial = `${path}.${process.pid}.tmp`;
  await writeFile(partial, bytes);
  await rename(partial, path);
}

/** A file as it is and compressed, by the ending of its name. */
async function codingsOf(contents: Uint8Array): Promise<[suffix: string, bytes: Uint8Array][]> {
  const best = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  return [
    ['.br', await promisify(brotliCompress)(contents, best)],
    ['.gz', await promisify(gzip)(contents, { level: 9 })],
    ['', contents],
  ];
}
