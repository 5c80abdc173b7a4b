import { Ajv } from 'ajv';
import { nameOf } from './manifests.ts';
import type { Manifest } from './manifests.ts';

/** The parts of a CustomResourceDefinition's structural schema that this file reads. */
export interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
  nullable?: boolean;
  [keyword: string]: unknown;
}

/** Whether a kind is one of Kubernetes itself: its group has no dot, or ends as all of its groups do. */
export const isOfKubernetes = ({ apiVersion }: Manifest): boolean =>
  !apiVersion.includes('.') || (apiVersion.includes('.k8s.io/') && !apiVersion.startsWith('gateway.networking.'));

/**
 * Violations of the definitions of their kinds, by `apiVersion/kind`. Unknown fields count, although a cluster would
 * only drop them: they are typing errors. CEL rules are not evaluated.
 */
export function againstDefinitions(manifests: Manifest[], definitions: Map<string, Schema>): string[] {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, unicodeRegExp: false });
  return manifests.flatMap((manifest) => {
    const kind = `${manifest.apiVersion}/${manifest.kind}`;
    const definition = definitions.get(kind);
    if (!definition) return [`${nameOf(manifest)}: there is no definition of ${kind}`];
    const validate = ajv.compile(strictly(definition));
    validate(manifest);
    return (validate.errors ?? []).map(
      ({ instancePath, message = '', params }) =>
        `${nameOf(manifest)}: ${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
    );
  });
}

const KEPT = [
  'required',
  'enum',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
];

/** The same as JSON Schema. Inside allOf, anyOf, oneOf and not, a schema adds rules to fields that stand elsewhere. */
function strictly(schema: Schema, isRule = false): object {
  const { type, properties, items, additionalProperties: others } = schema;
  const result: Record<string, unknown> = {};
  for (const keyword of KEPT) if (keyword in schema) result[keyword] = schema[keyword];
  // Go's regular expressions have inline flags, JavaScript's have not.
  if (String(schema['pattern']).includes('(?i)')) delete result['pattern'];
  if (schema['x-kubernetes-int-or-string'] === true) result['type'] = ['integer', 'string'];
  else if (type) result['type'] = schema.nullable ? [type, 'null'] : type;
  if (properties) result['properties'] = mapped(properties, isRule);
  if (items) result['items'] = strictly(items, isRule);
  if (typeof others === 'object') result['additionalProperties'] = strictly(others, isRule);
  else if (properties && !isRule && schema['x-kubernetes-preserve-unknown-fields'] !== true) {
    result['additionalProperties'] = others ?? false;
  }
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
    const rules = schema[keyword];
    if (rules) result[keyword] = rules.map((rule) => strictly(rule, true));
  }
  if (schema.not) result['not'] = strictly(schema.not, true);
  return result;
}

const mapped = (properties: Record<string, Schema>, isRule: boolean) =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, strictly(schema, isRule)]));
