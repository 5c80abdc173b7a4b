import type { Constants } from '@vision/shared/config';
import type { z } from 'zod';
import { importFrom, serviceNames } from './services.ts';

/** docs/env.md: every variable of every service, from the schemas that read them. */
export async function environmentList(root: string): Promise<string> {
  const services: Service[] = [];
  for (const name of serviceNames) {
    const module = (await importFrom(root, name, 'config.ts')) as ConfigModule | undefined;
    if (!module) continue;
    services.push({ name, entries: entriesOf(module.configSchema, root), constants: module.constants });
  }
  const shared = new Map<string, string[]>();
  for (const { name, entries } of services)
    for (const entry of entries) shared.set(entry, [...(shared.get(entry) ?? []), name]);
  const isShared = (entry: string) => (shared.get(entry) ?? []).length > 1;
  const own = services.map(
    ({ name, entries }) => `## ${name}\n\n${entries.filter((entry) => !isShared(entry)).join('\n')}`,
  );
  return `# Environment

Written by \`npm run docs\` from the configuration schemas. Each entry: name (default): meaning.

- Every variable can be given as a file: \`NAME_FILE\` names a file that holds the value, as mounted secrets do.
- An empty value counts as absent.
- All services also read the standard \`OTEL_*\` variables. \`OTEL_EXPORTER_OTLP_ENDPOINT\` exports traces, metrics and
  logs by OTLP; \`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT\`, \`…_METRICS_…\` and \`…_LOGS_…\` do so for one of them. To
  disable one, set \`OTEL_TRACES_EXPORTER\`, \`OTEL_METRICS_EXPORTER\` or \`OTEL_LOGS_EXPORTER\` to \`none\`.

## Settings of several services

${groupsOf(shared, services.length).join('\n\n')}

${own.join('\n\n')}

## Constants

These are no settings: a service that finds one in its environment logs a warning, "setting is no longer read", and goes
on. What each of them means stands in \`services/<name>/src/config.ts\`.

${services.flatMap(constantsOf).join('\n')}
`;
}

interface ConfigModule {
  configSchema: z.ZodObject;
  constants: Constants;
}

interface Service {
  name: string;
  entries: string[];
  constants: Constants;
}

function constantsOf({ name, constants }: Service): string[] {
  const all = Object.entries(constants).map(([constant, value]) => `\`${constant}\` ${value}`);
  return all.length === 0 ? [] : [`- ${name}: ${all.join(', ')}`];
}

/** Entries that the same services share, most services first. */
function groupsOf(shared: Map<string, string[]>, all: number): string[] {
  const groups = new Map<string, string[]>();
  for (const [entry, names] of shared) {
    if (names.length < 2) continue;
    const title = names.length === all ? 'All services' : names.join(', ');
    groups.set(title, [...(groups.get(title) ?? []), entry]);
  }
  const count = (title: string) => (title === 'All services' ? all : title.split(', ').length);
  return [...groups]
    .sort(([left], [right]) => count(right) - count(left))
    .map(([title, entries]) => `${title}:\n\n${entries.join('\n')}`);
}

function entriesOf(schema: z.ZodObject, root: string): string[] {
  return Object.entries(schema.shape).map(([name, field]) => {
    const type = field as z.ZodType;
    return `- \`${name}\` (${defaultOf(type, root)}): ${(descriptionOf(type) ?? '').replaceAll('<', '\\<')}`;
  });
}

function defaultOf(type: z.ZodType, root: string): string {
  if (!type.safeParse(undefined).success) return 'required';
  const text = defaultText(type, root);
  return text === undefined ? 'none' : `\`${text}\``;
}

/** Default of a setting; undefined when it has none, or has to be set. */
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
