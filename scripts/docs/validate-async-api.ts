import { Ajv } from 'ajv';
import type { AnySchema } from 'ajv';
import specs from '@asyncapi/specs';

/** @throws when a document is no AsyncAPI 3.0 as its own JSON schema describes it. */
export function assertAsyncApi(document: object): void {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  // The two packages spell the type of a JSON schema differently.
  const schema = specs.schemasWithoutId['3.0.0'] as AnySchema;
  if (ajv.validate(schema, document)) return;
  throw new Error(`the AsyncAPI document is not valid: ${ajv.errorsText(ajv.errors, { separator: '\n' })}`);
}
