import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { descriptionOf } from '../environment.ts';
import { serviceNames } from '../services.ts';
import { settingsOf } from './facts.ts';
import { overlays } from './schema-overlays.ts';
import type { Schema } from './schema-overlays.ts';
import { NOT_FOR_CLUSTERS, WIRED } from './wired.ts';

type Values = Record<string, unknown>;

/**
 * charts/vision/values.schema.json: the shape of values.yaml, where a name that does not stand there is refused, with
 * what `schema-overlays.ts` knows beyond that, and the settings of each service with their types.
 */
export async function chartSchema(root: string): Promise<string> {
  const values = parse(readFileSync(join(root, 'charts/vision/values.yaml'), 'utf8')) as Values;
  const { components: _, ...others } = values;
  const shape = objectOf(others, '');
  const defaults = shape.properties?.['componentDefaults'] ?? {};
  const components: Record<string, Schema> = {};
  const known: Record<string, Schema> = {};
  for (const service of serviceNames) {
    const settings = await propertiesOf(root, service);
    Object.assign(known, settings);
    components[service] = componentOf(defaults, service, settings);
  }
  const properties = {
    ...shape.properties,
    settings: closed(known),
    components: closed(components),
  };
  return JSON.stringify({
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of vision',
    ...closed(properties),
  });
}

/** What a component may say: what all have, its own settings, and what only the gateway has. */
function componentOf(defaults: Schema, service: string, settings: Record<string, Schema>): Schema {
  const properties: Record<string, Schema> = { ...defaults.properties, settings: closed(settings) };
  if (service === 'gateway') Object.assign(properties, overlays['gatewayOnly']?.properties);
  return { ...closed(properties), type: ['object', 'null'] };
}

async function propertiesOf(root: string, service: string): Promise<Record<string, Schema>> {
  const { schema, retired } = await settingsOf(root, service);
  const { shape } = schema;
  const names = Object.keys(shape).filter((name) => !WIRED.includes(name) && !NOT_FOR_CLUSTERS.includes(name));
  const properties: Record<string, Schema> = {};
  for (const name of names) properties[name] = settingOf(shape[name] as z.ZodType);
  for (const name of retired) properties[name] = { description: 'No longer read; the service warns about it' };
  return properties;
}

/** As much of a setting as JSON Schema can say; lists may also be given as lists. */
function settingOf(type: z.ZodType): Schema {
  const { $schema: _, default: __, ...known } = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }) as Schema;
  const description = descriptionOf(type);
  const isList = Array.isArray(type.safeParse(undefined).data);
  const isFlag = typeof type.safeParse(undefined).data === 'boolean';
  const extra: Schema = isList ? { type: ['string', 'array'] } : isFlag ? { type: ['boolean', 'string'] } : {};
  if (known.maximum === Number.MAX_SAFE_INTEGER) delete known.maximum;
  // Without quotes it is a boolean in YAML.
  if (known.enum?.includes('true'))
    Object.assign(extra, { type: ['boolean', 'string'], enum: [...known.enum, true, false] });
  return { ...known, ...extra, ...(description ? { description } : {}) };
}

function objectOf(values: Values, path: string): Schema {
  return closed(
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, shapeOf(value, `${path}${name}`)])),
  );
}

function shapeOf(value: unknown, path: string): Schema {
  const overlay = overlays[path];
  if (overlay) return overlay;
  if (Array.isArray(value)) return { type: 'array' };
  if (value !== null && typeof value === 'object') {
    return Object.keys(value).length === 0 ? { type: 'object' } : objectOf(value as Values, `${path}.`);
  }
  if (typeof value === 'number') return { type: 'integer', minimum: 0 };
  if (value === null) throw new Error(`values.yaml: ${path} is null, so its schema has to stand in schema-overlays.ts`);
  return { type: typeof value };
}

const closed = (properties: Record<string, Schema>): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties,
});
