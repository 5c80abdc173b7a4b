import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isScalar, parse, parseDocument } from 'yaml';
import type { YAMLMap } from 'yaml';

/** A value that has an explanation, or belongs to a group that has one. */
interface Row {
  path: string;
  text: string;
  fallback: string;
}

/** charts/vision/README.md: what stands in README.head.md, then every value of values.yaml with its comment. */
export function chartReadme(root: string): string {
  const folder = join(root, 'charts/vision');
  const source = readFileSync(join(folder, 'values.yaml'), 'utf8');
  const { version, appVersion, kubeVersion } = parse(readFileSync(join(folder, 'Chart.yaml'), 'utf8')) as Record<
    string,
    string
  >;
  const rows = rowsOf(parseDocument(source).contents as YAMLMap, '');
  const entries = rows.map(({ path, text, fallback }) => `- \`${path}\` (\`${fallback}\`)${text ? `: ${text}` : ''}`);
  return `${readFileSync(join(folder, 'README.head.md'), 'utf8').trim()}

## Values

Written by \`npm run docs\` from \`values.yaml\`, for version ${version} of the chart with ${appVersion} of the services and Kubernetes
${kubeVersion}. Each entry: name (default): meaning. Settings of the services, which go into \`settings\` and
\`components.<name>.settings\`, are explained in [docs/env.md](../../docs/env.md).

${entries.join('\n')}
`;
}

function rowsOf(map: YAMLMap, path: string): Row[] {
  return map.items.flatMap((pair) => {
    const key = isScalar(pair.key) ? pair.key : undefined;
    const name = `${path}${String(key?.value)}`;
    const text = commentOf(key?.commentBefore);
    // A small group with one explanation, or on one line, gets one entry.
    const isGroup = isMap(pair.value) && pair.value.items.length > 0 && text === '' && pair.value.flow !== true;
    if (isGroup) return rowsOf(pair.value as YAMLMap, `${name}.`);
    return [{ path: name, text, fallback: oneLine(pair.value) }];
  });
}

/** What a comment says behind `-- `; other comments are for readers of the file. */
function commentOf(comment: string | null | undefined): string {
  const lines = (comment ?? '').split('\n').map((line) => line.trim());
  const start = lines.findLastIndex((line) => line.startsWith('-- '));
  return start === -1 ? '' : lines.slice(start).join(' ').replace(/^-- /, '').replaceAll('<', '\\<');
}

function oneLine(value: unknown): string {
  const plain =
    value && typeof value === 'object' && 'toJSON' in value ? (value as { toJSON(): unknown }).toJSON() : value;
  return typeof plain === 'string' ? plain || "''" : JSON.stringify(plain);
}
