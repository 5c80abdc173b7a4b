import { join } from 'node:path';
import { readApiContract } from '@vision/shared/testing/api-contract';
import type { Exchange } from '@vision/shared/testing/api-contract-document';

const documents = join(import.meta.dirname, '../../docs/openapi');

/** What a service of an older release does not send yet. */
const MISSING = /must have required property|is missing$/;

/**
 * What in an exchange is not as an API document says. `olderDocuments` is the folder of the documents of an older
 * release, whose services may answer too: an answer is then right as that release promised it, and one that several
 * services made may lack what that release did not promise.
 */
export async function documentedBy(
  name: 'public' | 'admin',
  olderDocuments = process.env['OLDER_DOCUMENTS'],
): Promise<(exchange: Exchange) => string[]> {
  const today = await readApiContract(join(documents, `${name}.json`));
  if (!olderDocuments) return today.faults;
  const older = await readApiContract(join(olderDocuments, `${name}.json`));
  return (exchange) => {
    const found = today.faults(exchange);
    if (found.length === 0) return [];
    const broken = older.faults(exchange);
    return broken.length === 0 ? [] : found.filter((fault) => !MISSING.test(fault) || broken.includes(fault));
  };
}
