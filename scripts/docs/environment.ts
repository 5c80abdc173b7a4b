import type { z } from 'zod';
import { importFrom, serviceNames } from './services.ts';

/** docs/env.md: every variable of every service, from the schemas that read them. */
export async function environmentList(root: string): Promise<string> {
  const sections: string[] = [];
  for (const service of serviceNames) {
    const module = (await importFrom(root, service, 'config.ts')) as { configSchema: z.ZodObject } | undefined;
    if (module) sections.push(`## ${service}\n\n${listOf(module.configSchema, root)}`);
  }
  return `# Environment

Written by \`npm run docs\` from the configuration schemas. Every variable may also be given as a file: \`NAME_FILE\` names
a file that holds the value, as mounted secrets do. An empty value counts as absent. All services also read the
standard \`OTEL_*\` variables: \`OTEL_EXPORTER_OTLP_ENDPOINT\` sends traces, metrics and logs by OTLP; it can be given
for one of them (\`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT\`, \`…_METRICS_…\`, \`…_LOGS_…\`), and \`OTEL_TRACES_EXPORTER\`,
\`OTEL_METRICS_EXPORTER\` or \`OTEL_LOGS_EXPORTER\` set to \`none\` keeps one back.

Each entry: name (default): meaning.

${sections.join('\n\n')}
`;
}

function listOf(schema: z.ZodObject, root: string): string {
  const entries = Object.entries(schema.shape).map(([name, field]) => {
    const type = field as z.ZodType;
    return `- \`${name}\` (${defaultOf(type, root)}): ${(descriptionOf(type) ?? '').replaceAll('<', '\\<')}`;
  });
  return entries.join('\n');
}

function defaultOf(type: z.ZodType, root: string): string {
  if (!type.safeParse(undefined).success) return 'required';
  const text = defaultText(type, root);
  return text === undefined ? 'none' : `\`${text}\``;
}

/** What a setting is when nobody sets it; undefined when that is nothing, or it has to be set. */
export function defaultText(type: z.ZodType, root: string): string | undefined {
  const { data } = type.safeParse(undefined);
  if (data === undefined || data === '') return undefined;
  const text = Array.isArray(data) ? data.join(', ') : JSON.stringify(data).replaceAll('"', '');
  return text === '' ? undefined : text.replace(`${root}/`, '');
}

/** The description may hang on the schema itself or on what it wraps. */
export function descriptionOf(type: z.ZodType): string | undefined {
  const inner = type as { unwrap?: () => z.ZodType; in?: z.ZodType };
  return type.description ?? (inner.unwrap ? descriptionOf(inner.unwrap()) : inner.in && descriptionOf(inner.in));
}
