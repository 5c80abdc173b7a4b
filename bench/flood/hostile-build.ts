import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Constants that bound what a reader of streams accepts have names of these forms in all of its files. */
const BOUND = /^((?:export )?const ((?:MAX|MOST)_\w+|\w+_PER_M?S) = ).+;$/gm;
/** Sizes that both sides of a pipe agree on, and ranges of a protocol: no bounds of what a stranger may send. */
const AGREED = /MAX_(FACT_BYTES|PAYLOAD_TYPE)/;

/** The build is refused while one of these is in force: a bound that moved or has another name would go unnoticed. */
const BOUNDS: Record<string, readonly string[]> = {
  'streams/budget.ts': ['BYTES_PER_MS', 'PARTS_PER_MS', 'MAX_SLOWED_MS'],
  'streams/rtsp-connection.ts': ['MAX_EARLY_BYTES', 'MAX_UNSENT_BYTES'],
  'streams/rtsp-message.ts': ['MAX_HEAD', 'MAX_BODY', 'MAX_HEADERS', 'MAX_LINE'],
  'inputs/hls-input.ts': ['MAX_CATCH_UP', 'MAX_PIECES_AHEAD'],
  'inputs/hls-lines.ts': ['MAX_VARIANTS', 'MAX_LINE', 'MAX_LINES'],
  'inputs/hls-source.ts': ['MAX_PLAYLIST_BYTES', 'MAX_PIECE_BYTES'],
  'inputs/rtmp/amf0.ts': ['MAX_DEPTH', 'MAX_VALUES'],
  'inputs/rtmp/chunk-reader.ts': ['MAX_MESSAGE_BYTES', 'MAX_UNFINISHED_BYTES', 'MAX_CHUNK_BYTES', 'MAX_CHUNK_STREAMS'],
  'inputs/rtmp/rtmp-connection.ts': ['MAX_TAGS', 'MAX_UNSENT_BYTES'],
  'inputs/rtsp/sdp.ts': ['MAX_LINES'],
  'inputs/video/nal-units.ts': ['MAX_PARAMETER_SET', 'MAX_SETS_OF_A_KIND', 'MAX_SETS', 'MAX_UNITS'],
  'inputs/video/video-packer.ts': ['MAX_PICTURE_BYTES', 'MAX_SETS_BYTES'],
};

/** The same source without its bounds. Half of 32 bits: what counts beyond it would wrap. */
export function withoutBounds(source: string): { source: string; removed: string[] } {
  const removed: string[] = [];
  const changed = source.replaceAll(BOUND, (line: string, declaration: string, name: string) => {
    if (AGREED.test(line)) return line;
    removed.push(name);
    return `${declaration}2 ** 30;`;
  });
  return { source: changed, removed };
}

/** @throws when one of `BOUNDS` was not removed from its file */
export function requireRemoved(removed: Record<string, readonly string[]>): void {
  const left = Object.entries(BOUNDS).flatMap(([file, names]) =>
    names.filter((name) => !removed[file]?.includes(name)).map((name) => `${name} of ${file}`),
  );
  if (left.length > 0) throw new Error(`still in force: ${left.join(', ')}`);
}

export interface HostileBuild {
  /** Of a service inference whose readers of streams check no bounds; other packages are those of this tree. */
  folder: string;
  removed: number;
  delete: () => void;
}

/**
 * Copies inference and takes the bounds of its readers out of the copy. No setting of the service does that. The stream
 * code that readers share with tasks becomes a folder of the copy: a reader may read no other sources in its sandbox.
 */
export function hostileBuild(): HostileBuild {
  mkdirSync(join(root, '.local'), { recursive: true });
  const base = mkdtempSync(join(root, '.local/hostile-build-'));
  const folder = join(base, 'services/inference');
  const src = join(folder, 'src');
  const inference = join(root, 'services/inference');
  cpSync(join(inference, 'src'), src, { recursive: true });
  cpSync(join(inference, 'package.json'), join(folder, 'package.json'));
  cpSync(join(root, 'packages/streams/src'), join(src, 'streams'), { recursive: true });
  symlinkSync(join(inference, 'models'), join(folder, 'models'));
  const removed: Record<string, string[]> = {};
  for (const name of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue;
    const source = withCopiedStreams(readFileSync(join(src, name), 'utf8'), name);
    const changed = /^(inputs|streams)\//.test(name) ? withoutBounds(source) : { source, removed: [] };
    writeFileSync(join(src, name), changed.source);
    removed[name] = changed.removed;
  }
  requireRemoved(removed);
  const count = Object.values(removed).flat().length;
  return { folder, removed: count, delete: () => rmSync(base, { recursive: true, force: true }) };
}

/** @param name of the file, from `src` */
function withCopiedStreams(source: string, name: string): string {
  const path = relative(dirname(name), 'streams');
  const streams = path.startsWith('.') ? path : `./${path}`;
  return source.replaceAll(/'@vision\/streams\/([\w-]+)'/g, (_, module: string) => `'${streams}/${module}.ts'`);
}
